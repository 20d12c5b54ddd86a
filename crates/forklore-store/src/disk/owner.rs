//! Ownership checks. A store's files must belong to the current user, and must not be writable by
//! all users.

use std::fs::{DirBuilder, Metadata};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::Path;

use super::os;
use crate::{Error, Result};

const WRITABLE_BY_ALL: u32 = 0o002;
const STICKY: u32 = 0o1000;

/// Returns the folder that contains `path`; `.` if `path` is only a file name.
#[must_use]
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Creates the folder of a new store and its missing parents. Only their owner can access them.
///
/// # Errors
/// `Denied` if the operating system forbids it; `Io` if it fails for another reason.
pub fn make_folder(folder: &Path) -> Result<()> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(os("making the folder", folder))
}

/// Rejects a folder that belongs neither to the current user nor to root. Also rejects a folder in
/// which every user may replace files.
///
/// # Errors
/// `Denied` if the folder is rejected or may not be accessed; `Io` if its metadata cannot be read.
pub fn check_folder(folder: &Path) -> Result<()> {
    let found = std::fs::metadata(folder).map_err(os("opening the folder", folder))?;
    let me = rustix::process::geteuid().as_raw();
    if found.uid() != me && found.uid() != 0 {
        return Err(Error::Denied(format!("{} belongs to another user", folder.display())));
    }
    refuse_writable(folder, &found, STICKY)
}

/// Rejects a file or folder of a store that belongs to another user, or that every user may write
/// to. `found` is its metadata.
///
/// # Errors
/// `Denied` if the file or folder is rejected.
pub fn refuse_others(path: &Path, found: &Metadata) -> Result<()> {
    if found.uid() != rustix::process::geteuid().as_raw() {
        return Err(Error::Denied(format!("{} belongs to another user", path.display())));
    }
    refuse_writable(path, found, 0)
}

fn refuse_writable(path: &Path, found: &Metadata, unless: u32) -> Result<()> {
    if found.mode() & WRITABLE_BY_ALL != 0 && found.mode() & unless == 0 {
        let path = path.display();
        return Err(Error::Denied(format!(
            "every user of this machine may write {path}; take that right away: chmod o-w {path}"
        )));
    }
    Ok(())
}
