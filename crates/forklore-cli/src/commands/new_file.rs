//! Writes new files. Never overwrites an existing file, and leaves no incomplete file.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

use forklore::core::ErrorKind;
use forklore_sanitize::path::PathError;

use crate::failure::{Failure, Result};

/// The size in bytes of the buffer for writing a file.
pub(super) const BUFFER: usize = 256 * 1024;

/// Creates a file and calls `fill` to write its content. Removes the file if `fill` fails. Sessions
/// are private, so only the owner may read the file.
///
/// # Errors
/// `already_exists` if `path` exists, an error of the file system, or the error of `fill`.
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
        // Report the error of `fill`, not an error of this removal.
        let _ = std::fs::remove_file(path);
    }
    filled
}

/// Returns the error for a new file whose path exists already.
fn is_there(path: &Path) -> Failure {
    let message =
        format!("{} is there already and stays as it is: name another file", path.display());
    Failure::refused(ErrorKind::AlreadyExists, message)
}

/// Returns a function that converts an I/O error to the failure "writing `path`".
pub(super) fn failed(path: &Path) -> impl Fn(io::Error) -> Failure + '_ {
    move |source| Failure::File { doing: format!("writing {}", path.display()), source }
}

/// Converts the refusal of a path to a failure of the program.
pub(super) fn refused(error: PathError) -> Failure {
    match error {
        PathError::Unresolved { path, source } => {
            Failure::File { doing: format!("making {}", path.display()), source }
        }
        outside @ PathError::Outside { .. } => Failure::invalid(outside.to_string()),
    }
}
