//! The limits of a process that SQLite and the like meet without saying so.

use std::fs::File;
use std::io;

use rustix::process::{Resource, getrlimit};

/// How long this process may make a file, in bytes; none where that is not limited.
#[must_use]
pub fn file_size() -> Option<u64> {
    getrlimit(Resource::Fsize).current
}

/// Why this process cannot open so many more files; none where it can.
#[must_use]
pub fn open_files(count: usize) -> Option<io::Error> {
    (0..count).map(|_| File::open("/dev/null")).collect::<io::Result<Vec<_>>>().err()
}
