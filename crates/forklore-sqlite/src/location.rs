//! Whether a store may stand where it is: nobody else's, nobody else may write, no network.

use std::fs::{DirBuilder, Metadata};
use std::io::Read;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use forklore_store::{Error, Result};

use crate::fault::os;
use crate::migrate::APPLICATION_ID;

const WRITABLE_BY_ALL: u32 = 0o002;
const STICKY: u32 = 0o1000;

/// Makes the folder of a new store, open to its owner only.
pub(crate) fn make_folder(folder: &Path) -> Result<()> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(os("making the folder", folder))
}

/// The file that `path` names, through a link, so that all who mean one store wait at one gate.
///
/// # Errors
/// `Unsupported` for a link that leads nowhere: a new store in its place would hide the old one.
pub(crate) fn resolve(path: &Path) -> Result<PathBuf> {
    if !path.is_symlink() {
        return Ok(path.to_owned());
    }
    path.canonicalize().map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            let link = path.display();
            Error::Unsupported(format!("{link} is a link to a file that is not there"))
        }
        _ => os("opening the store", path)(error),
    })
}

/// Checks the folder and the file, if it is there; whether it is.
pub(crate) fn check(path: &Path) -> Result<bool> {
    let folder = folder(path);
    let found = match std::fs::metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            if folder.exists() {
                check_folder(folder)?;
            }
            return Ok(false);
        }
        Err(error) => return Err(os("opening the store", path)(error)),
    };
    if !found.is_file() {
        return Err(Error::Unsupported(format!("{} is no file", path.display())));
    }
    check_folder(folder)?;
    let me = rustix::process::geteuid().as_raw();
    if found.uid() != me {
        return Err(Error::Denied(format!("{} belongs to another user", path.display())));
    }
    refuse_writable(path, &found, 0)?;
    check_content(path, &found)?;
    Ok(true)
}

/// The folder of a store.
pub(crate) fn folder(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn check_folder(folder: &Path) -> Result<()> {
    let found = std::fs::metadata(folder).map_err(os("opening the folder", folder))?;
    let me = rustix::process::geteuid().as_raw();
    if found.uid() != me && found.uid() != 0 {
        return Err(Error::Denied(format!("{} belongs to another user", folder.display())));
    }
    refuse_writable(folder, &found, STICKY)?;
    crate::network::refuse(folder)
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

/// Refuses a file that is no store, before SQLite touches it.
fn check_content(path: &Path, found: &Metadata) -> Result<()> {
    let mut start = Vec::new();
    if found.len() > 0 {
        let file = std::fs::File::open(path).map_err(os("opening the store", path))?;
        file.take(100).read_to_end(&mut start).map_err(os("reading", path))?;
    }
    let mark = start.get(68..72).and_then(|mark| mark.try_into().ok()).map(i32::from_be_bytes);
    if start.starts_with(b"SQLite format 3\0") && mark == Some(APPLICATION_ID) {
        return Ok(());
    }
    Err(Error::Unsupported(format!("{} is not a store of forklore", path.display())))
}
