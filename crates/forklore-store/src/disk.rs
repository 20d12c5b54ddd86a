//! Code for stores on disk: the file system as a trait, checks of owners and of file systems, the
//! lock between processes, the cache folder, and limits.

mod cache;
pub mod fs;
mod gate;
pub mod limits;
mod network;
mod owner;
mod unfinished;

use std::path::Path;

pub use cache::CacheFolder;
pub use gate::{Gate, Pass, Passed, with_suffix};
pub use network::{file_system, network};
pub use owner::{check_folder, folder_of, make_folder, refuse_others};
pub use unfinished::Unfinished;

use crate::{Error, Result};

/// How far the copy of a store has come, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Copied {
    /// How many bytes are written so far.
    pub done: u64,
    /// How many bytes there are to write, as far as the copy can tell.
    pub all: u64,
}

/// Returns a function that converts an error of the operating system to `Denied` or `Io`. The
/// message contains the operation `doing` and `path`.
pub fn os(doing: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Error + use<> {
    let at = path.display().to_string();
    move |source| match source.kind() {
        std::io::ErrorKind::PermissionDenied => Error::Denied(format!("{doing} {at}: {source}")),
        _ => Error::io(format!("{doing} {at}"), source),
    }
}

/// Checks `found`, the format version of the file at `path`. This program knows the versions from 1
/// to `newest`.
///
/// # Errors
/// `Unsupported` for a newer version, and `Corrupt` for a number that no program writes.
pub fn check_version(path: &Path, found: u32, newest: u32) -> Result<()> {
    if (1..=newest).contains(&found) {
        return Ok(());
    }
    let location = path.display().to_string();
    if found > newest {
        return Err(Error::Unsupported(format!(
            "{location} has the version {found} and this program knows up to {newest}; \
             use a newer forklore"
        )));
    }
    let message = format!("no program gave it the version {found}");
    Err(Error::Corrupt { session: None, seq: None, location, message })
}
