//! Registers the store files that this process has open. The content of a file is checked only
//! while the process does not have it open.
//!
//! When a process closes any descriptor of a file, the operating system drops all locks of that
//! process on the file, including SQLite's. Another program could then believe that the store is
//! unused. The check of the content opens and closes the file. It therefore runs before SQLite
//! opens the file, and never while the file is open.

use std::collections::HashMap;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use forklore_store::Result;
use forklore_store::disk::os;

/// Counts how many times this process has each store file open. The key is the file's device and
/// inode.
static OPEN: LazyLock<Mutex<HashMap<(u64, u64), usize>>> = LazyLock::new(Mutex::default);

fn open() -> MutexGuard<'static, HashMap<(u64, u64), usize>> {
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The registration that this process has a store file open or is about to open it. Dropping the
/// value removes the registration.
#[derive(Debug)]
pub(crate) struct OpenFile {
    file: (u64, u64),
}

impl OpenFile {
    /// Returns the device and inode that identify the registered file.
    pub(crate) fn file(&self) -> (u64, u64) {
        self.file
    }

    /// Registers that this process opens the file at `path`. If it does not have the file open yet,
    /// first checks the file with `look`.
    pub(crate) fn of(path: &Path, look: impl FnOnce(&Metadata) -> Result<()>) -> Result<Self> {
        let found = std::fs::metadata(path).map_err(os("opening the store", path))?;
        let file = (found.dev(), found.ino());
        let mut open = open();
        if !open.contains_key(&file) {
            look(&found)?;
        }
        *open.entry(file).or_default() += 1;
        Ok(Self { file })
    }
}

impl Drop for OpenFile {
    fn drop(&mut self) {
        let mut open = open();
        if let Some(times) = open.get_mut(&self.file) {
            *times -= 1;
            if *times == 0 {
                open.remove(&self.file);
            }
        }
    }
}
