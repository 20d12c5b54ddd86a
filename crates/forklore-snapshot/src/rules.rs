//! Refuses files of rules that whoever reads them would wait for: a pipe has no end, and a device may
//! have none.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::Path;
use std::sync::Mutex;

use ignore::DirEntry;

use crate::{Error, Result};

/// What says which files of a folder are ignored, and what git reads before it lists them.
const FILES: [&str; 5] =
    [".gitignore", ".git/info/exclude", ".git/config", ".git/index", ".git/HEAD"];

/// Checks the files of a folder before a walk reads them. Notes the first that cannot be used and
/// returns whether the walk may go into the folder.
pub(crate) fn are_usable(entry: &DirEntry, first: &Mutex<Result<()>>) -> bool {
    if !entry.file_type().is_some_and(|kind| kind.is_dir()) {
        return true;
    }
    let checked = check(entry.path());
    let is_usable = checked.is_ok();
    if let (Err(_), Ok(mut first)) = (&checked, first.lock())
        && first.is_ok()
    {
        *first = checked;
    }
    is_usable
}

/// Checks the files of a folder.
pub(crate) fn check(folder: &Path) -> Result<()> {
    for name in FILES {
        let path = folder.join(name);
        // A link counts as what it leads to.
        let may_wait = |it: Metadata| !it.is_file() && !it.is_dir() && !is_empty_device(&it);
        if fs::metadata(&path).is_ok_and(may_wait) {
            let source = io::Error::new(io::ErrorKind::InvalidInput, "it is not a file; remove it");
            return Err(Error::File { what: "read", path, source });
        }
    }
    Ok(())
}

/// Returns whether something is `/dev/null`, which sandboxes put in the place of files.
fn is_empty_device(found: &Metadata) -> bool {
    let null = fs::metadata("/dev/null");
    found.file_type().is_char_device() && null.is_ok_and(|null| null.rdev() == found.rdev())
}
