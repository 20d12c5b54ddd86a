//! Bad bytes: whatever byte of a store or of a session file is wrong, nothing panics, nothing
//! hangs, and nothing is lost without a word.

mod sessions;
mod stores;
