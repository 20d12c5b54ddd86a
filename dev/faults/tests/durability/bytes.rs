//! Bad bytes: whatever byte of a store or session file is wrong, nothing panics, nothing hangs, and
//! no data is lost silently.

mod sessions;
mod stores;
