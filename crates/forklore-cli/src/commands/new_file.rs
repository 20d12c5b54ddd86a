//! Files that a command writes: new ones only, whole or not at all.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

use forklore::core::ErrorKind;

use crate::failure::{Failure, Result};

/// How much is gathered before it is written.
pub(super) const BUFFER: usize = 256 * 1024;

/// Makes the file and fills it; a file that is there is never written over, and one that could
/// not be finished is taken away again. Sessions are private, so only their owner may read it.
///
/// # Errors
/// `already_exists`, or whatever filling it comes to.
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

/// Nothing is ever written over.
fn is_there(path: &Path) -> Failure {
    let message =
        format!("{} is there already and stays as it is: name another file", path.display());
    Failure::refused(ErrorKind::AlreadyExists, message)
}

/// The failure of writing to `path`.
pub(super) fn failed(path: &Path) -> impl Fn(io::Error) -> Failure + '_ {
    move |source| Failure::File { doing: format!("writing {}", path.display()), source }
}
