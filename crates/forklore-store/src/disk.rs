//! Code that all stores on disk share: ownership checks, file system detection, and a lock between
//! processes.

mod cache;
pub mod fs;
mod gate;
pub mod limits;
mod network;
mod owner;

use std::path::Path;

pub use cache::CacheFolder;
pub use gate::{Gate, Pass, Passed, with_suffix};
pub use network::{file_system, network};
pub use owner::{check_folder, folder_of, make_folder, refuse_others};

use crate::Error;

/// Returns a function that converts an error of the operating system to `Denied` or `Io`. The
/// message contains the operation `doing` and `path`.
pub fn os(doing: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Error + use<> {
    let at = path.display().to_string();
    move |source| match source.kind() {
        std::io::ErrorKind::PermissionDenied => Error::Denied(format!("{doing} {at}: {source}")),
        _ => Error::io(format!("{doing} {at}"), source),
    }
}
