//! Shared code of stores on disk: ownership checks, file system detection, and a lock between
//! processes.

pub mod fs;
mod gate;
pub mod limits;
mod network;
mod owner;

use std::path::Path;

pub use gate::{Gate, Pass, Passed, with_suffix};
pub use network::{file_system, network};
pub use owner::{check_folder, folder_of, make_folder, refuse_others};

use crate::Error;

/// Converts an error of the operating system, adding the operation and the path.
pub fn os(doing: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Error + use<> {
    let at = path.display().to_string();
    move |source| match source.kind() {
        std::io::ErrorKind::PermissionDenied => Error::Denied(format!("{doing} {at}: {source}")),
        _ => Error::io(format!("{doing} {at}"), source),
    }
}
