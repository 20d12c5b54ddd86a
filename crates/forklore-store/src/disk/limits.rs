//! The limits of a process that SQLite and the like meet without saying so.

use std::fs::File;
use std::io;

use rustix::process::{Resource, getrlimit};

/// More files than one connection opens at once.
const FEW: usize = 4;

/// How long this process may make a file, in bytes; none where that is not limited.
#[must_use]
pub fn file_size() -> Option<u64> {
    getrlimit(Resource::Fsize).current
}

/// Why this process can open no more files; none while it can open a few.
#[must_use]
pub fn open_files() -> Option<io::Error> {
    (0..FEW).map(|_| File::open("/dev/null")).collect::<io::Result<Vec<_>>>().err()
}
