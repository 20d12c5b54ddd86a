//! Tests with damaged bytes. Whatever byte of a store or session file is wrong, no reader panics or
//! hangs, and no data is lost silently.

mod pages;
mod sessions;
mod stores;
