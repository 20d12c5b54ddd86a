//! What a `git fast-import` that failed or was killed leaves: nothing of it may fill the disk for good.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use crate::git::Git;
use crate::{Error, Result};

/// The name of the file that all who write snapshots lock together. Git does not know it.
const LOCK: &str = "writing";

/// The right to write: nobody removes what this writer has begun.
#[derive(Debug)]
pub(crate) struct Writing {
    lock: File,
}

impl Writing {
    /// Removes what others left, unless somebody writes now, and lets nobody remove what follows.
    pub(crate) fn begin(git: &Git) -> Result<Self> {
        let path = git.folder().join(LOCK);
        let lock = File::create(&path).map_err(Error::file("open", &path))?;
        match lock.try_lock() {
            Ok(()) => remove(git)?,
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(source)) => return Err(Error::file("lock", path)(source)),
        }
        lock.lock_shared().map_err(Error::file("lock", path))?;
        Ok(Self { lock })
    }

    /// Waits until nobody else writes. Ends the right of this writer.
    pub(crate) fn wait_for_others(&self) -> std::io::Result<()> {
        self.lock.unlock()?;
        self.lock.lock()
    }

    /// Removes what git left after it failed. If others write now, the next writer does it.
    pub(crate) fn clean_up(&self, git: &Git) {
        if self.lock.unlock().is_ok() && self.lock.try_lock().is_ok() {
            remove(git).ok();
        }
    }
}

/// Removes unfinished packs, what git wrote about its end, and the marks of packs in use. Nobody may
/// write meanwhile.
pub(crate) fn remove(git: &Git) -> Result<()> {
    let reports = files_in(git.folder())?.into_iter();
    let packs = files_in(&git.folder().join("objects/pack"))?.into_iter();
    for path in reports.chain(packs) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_rest = name.starts_with("fast_import_crash_") || name.starts_with("tmp_");
        if is_rest || name.ends_with(".keep") {
            fs::remove_file(&path).map_err(Error::file("remove", &path))?;
        }
    }
    Ok(())
}

/// Returns the files in a folder. A folder that does not exist has none.
pub(crate) fn files_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::file("read", folder)(error)),
    };
    let files = entries.filter_map(Result::ok).map(|entry| entry.path());
    Ok(files.filter(|path| path.is_file()).collect())
}
