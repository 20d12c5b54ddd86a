//! The difference of two histories by the identity of their events (SPEC 7).
