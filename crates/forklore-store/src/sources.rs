//! Files of other agents from which sessions were read (SPEC 11).

/// Keeps the sources of imported sessions. (The import work replaces this.)
pub trait Sources: Send + Sync {}
