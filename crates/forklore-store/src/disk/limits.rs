//! Resource limits of the process. SQLite and other libraries fail at these limits without naming
//! them.

use std::fs::File;
use std::io;

use rustix::process::{Resource, getrlimit};

/// Returns the largest size of a file that this process may write, in bytes; `None` if unlimited.
#[must_use]
pub fn file_size() -> Option<u64> {
    getrlimit(Resource::Fsize).current
}

/// Returns the error if this process cannot open `count` more files at once; `None` if it can.
#[must_use]
pub fn open_files(count: usize) -> Option<io::Error> {
    (0..count).map(|_| File::open("/dev/null")).collect::<io::Result<Vec<_>>>().err()
}
