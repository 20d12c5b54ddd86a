//! Writes new files. Overwrites an existing file only if the user asks for it (`--force`), and
//! leaves no incomplete file.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use forklore::core::ErrorKind;
use forklore_sanitize::path::PathError;

use crate::failure::{Failure, Result};

/// The size in bytes of the buffer for writing a file.
pub(crate) const BUFFER: usize = 256 * 1024;

/// Creates a file and calls `fill` to write its content. Removes the file if `fill` fails. Sessions
/// are private, so only the owner may read the file. With `force`, replaces a file that exists at
/// `path`, once the new one is complete.
///
/// # Errors
/// `already_exists` if `path` exists and `force` is not set, or if `path` exists and is not a file;
/// an error of the file system, or the error of `fill`.
pub(crate) fn write<T>(
    path: &Path,
    force: bool,
    fill: impl FnOnce(&mut File) -> Result<T>,
) -> Result<T> {
    match path.canonicalize() {
        Ok(existing) if force => replace(&existing, fill),
        Ok(_) => Err(is_there(path, "name another file, or use --force")),
        Err(_) => create(path, fill),
    }
}

/// Replaces the file `path` by a new file. Until the new file is complete, it has another name.
fn replace<T>(path: &Path, fill: impl FnOnce(&mut File) -> Result<T>) -> Result<T> {
    if !path.is_file() {
        let message = format!("{} is no file, so it stays as it is", path.display());
        return Err(Failure::refused(ErrorKind::AlreadyExists, message));
    }
    let aside = aside(path);
    // A process with the same number may have been killed while it wrote.
    let _ = std::fs::remove_file(&aside);
    let filled = create(&aside, fill)?;
    if let Err(error) = std::fs::rename(&aside, path) {
        let _ = std::fs::remove_file(&aside);
        return Err(failed(path)(error));
    }
    Ok(filled)
}

/// Returns the path of an incomplete file next to the file `path`.
fn aside(path: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!("-new-{}", std::process::id()));
    path.with_file_name(name)
}

/// Creates a file and calls `fill` to write its content, as [`write`] does without `force`.
///
/// # Errors
/// See [`write`].
pub(crate) fn create<T>(path: &Path, fill: impl FnOnce(&mut File) -> Result<T>) -> Result<T> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path).map_err(|source| match source.kind() {
        io::ErrorKind::AlreadyExists => is_there(path, "name another file"),
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

/// Returns the error for a new file whose path exists already. `next` is what the user can do.
fn is_there(path: &Path, next: &str) -> Failure {
    let message = format!("{} is there already and stays as it is: {next}", path.display());
    Failure::refused(ErrorKind::AlreadyExists, message)
}

/// Returns a function that converts an I/O error to the failure "writing `path`".
pub(crate) fn failed(path: &Path) -> impl Fn(io::Error) -> Failure + '_ {
    move |source| Failure::File { doing: format!("writing {}", path.display()), source }
}

/// Converts the refusal of a path to a failure of the program.
pub(crate) fn refused(error: PathError) -> Failure {
    match error {
        PathError::Unresolved { path, source } => {
            Failure::File { doing: format!("making {}", path.display()), source }
        }
        outside @ PathError::Outside { .. } => Failure::invalid(outside.to_string()),
    }
}
