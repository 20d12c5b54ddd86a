//! The memory store: the reference that the others are compared with.
