//! Checks whether a path is safe for a store. The folder and file must belong to this user, other
//! users must not be able to replace them, and the file system must be local.

use std::fs::Metadata;
use std::io::Read;
use std::path::{Path, PathBuf};

use forklore_store::disk::{self, os};
use forklore_store::{Error, Result};

use crate::migrate::APPLICATION_ID;
use crate::open_files::OpenFile;

/// Resolves `path` if it is a symbolic link, so that all processes use the same lock files for a
/// store. The names of these files begin with the name of the store's file.
///
/// # Errors
/// `Unsupported` if the link's target does not exist. Otherwise a new, empty store would be created
/// at the target, for example while its disk is not mounted.
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

/// Checks that the folder of the store, and the store's file if it exists, are safe to use. Returns
/// whether the file exists.
pub(crate) fn check(path: &Path) -> Result<bool> {
    let folder = disk::folder_of(path);
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
    disk::refuse_others(path, &found)?;
    Ok(true)
}

/// Registers that this process has the store at `path` open. First checks the content of the file,
/// unless this process already has it open.
///
/// # Errors
/// `Unsupported` if the file is not a store.
pub(crate) fn register_open(path: &Path) -> Result<OpenFile> {
    OpenFile::of(path, |found| check_content(path, found))
}

/// Checks the folder of a store. Refuses a folder of another user, a folder in which everybody may
/// replace files, and a folder on a network file system, where SQLite's locks are not reliable.
fn check_folder(folder: &Path) -> Result<()> {
    disk::check_folder(folder)?;
    disk::network(folder).map_or(Ok(()), |name| Err(refusal(folder, &name)))
}

fn refusal(folder: &Path, name: &str) -> Error {
    Error::Unsupported(format!(
        "{} is on a network file system ({name}), where the locks of a store cannot be relied on; \
         name a location on a local disk with --store",
        folder.display()
    ))
}

/// Refuses a file that is not a store of forklore, before SQLite opens it.
fn check_content(path: &Path, found: &Metadata) -> Result<()> {
    let mut start = Vec::new();
    if found.len() > 0 {
        let file = std::fs::File::open(path).map_err(os("opening the store", path))?;
        file.take(100).read_to_end(&mut start).map_err(os("reading", path))?;
    }
    let mark = start.get(68..72).and_then(|mark| mark.try_into().ok()).map(i32::from_be_bytes);
    let ours = if start.starts_with(b"SQLite format 3\0") {
        mark == Some(APPLICATION_ID)
    } else {
        found.len() > 0 && has_wal(path)?
    };
    if ours {
        return Ok(());
    }
    Err(Error::Unsupported(format!("{} is not a store of forklore", path.display())))
}

/// Checks whether a WAL exists that begins with SQLite's magic number. If so, the start of the
/// database file may be incomplete, because the power failed while the WAL was written back. SQLite
/// then reads that start from the WAL.
fn has_wal(path: &Path) -> Result<bool> {
    let wal = disk::with_suffix(path, "-wal");
    let mut start = [0; 4];
    match std::fs::File::open(&wal).and_then(|mut wal| wal.read_exact(&mut start)) {
        // The lowest bit of a WAL's magic number gives the byte order of its checksums.
        Ok(()) => Ok(u32::from_be_bytes(start) & !1 == 0x377f_0682),
        Err(error) => match error.kind() {
            std::io::ErrorKind::NotFound | std::io::ErrorKind::UnexpectedEof => Ok(false),
            _ => Err(os("reading", &wal)(error)),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_refusal_names_it_and_the_way_out() {
        let text = refusal(Path::new("/srv/store"), "nfs").to_string();
        assert!(text.contains("/srv/store") && text.contains("(nfs)") && text.contains("--store"));
    }
}
