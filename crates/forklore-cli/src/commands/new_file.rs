//! Writes new files: never over an existing one, and either complete or not at all.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

use forklore::core::ErrorKind;

use crate::failure::{Failure, Result};

/// The size in bytes of the buffer for writing a file.
pub(super) const BUFFER: usize = 256 * 1024;

/// Creates a file and fills it. An existing file is never overwritten, and a file that could not be
/// completed is removed. Sessions are private, so only the owner may read the file.
///
/// # Errors
/// `already_exists`, or an error of `fill`.
pub(super) fn write<T>(path: &Path, fill: impl FnOnce(&mut File) -> Result<T>) -> Result<T> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path).map_err(|source| match source.kind() {
        io::ErrorKind::AlreadyExists => is_there(path),
        _ => failed(path)(source),
    })?;
    let filled = fill(&mut file).and_then(|value| {
        file.sync_all().map_err(failed(path))?;
        Ok(value)
    });
    if filled.is_err() {
        // The first error is the one to report.
        let _ = std::fs::remove_file(path);
    }
    filled
}

/// Returns the error for an existing file, which is never overwritten.
fn is_there(path: &Path) -> Failure {
    let message =
        format!("{} is there already and stays as it is: name another file", path.display());
    Failure::refused(ErrorKind::AlreadyExists, message)
}

/// Returns a function that makes the error for a failed write to `path`.
pub(super) fn failed(path: &Path) -> impl Fn(io::Error) -> Failure + '_ {
    move |source| Failure::File { doing: format!("writing {}", path.display()), source }
}
