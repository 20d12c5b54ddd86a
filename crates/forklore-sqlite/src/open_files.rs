//! The stores that this process has open, each looked at only once.
//!
//! When a process closes a file, the system drops every lock that it has on that file, SQLite's
//! too: another program could then take the store for unused. So what a file holds is looked at
//! before it is opened, and never while it is.

use std::collections::HashMap;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use forklore_store::Result;
use forklore_store::disk::os;

/// How often each file is open, by device and inode.
static OPEN: LazyLock<Mutex<HashMap<(u64, u64), usize>>> = LazyLock::new(Mutex::default);

fn open() -> MutexGuard<'static, HashMap<(u64, u64), usize>> {
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file that is open in this process, or about to be.
#[derive(Debug)]
pub(crate) struct OpenFile {
    file: (u64, u64),
}

impl OpenFile {
    /// Its device and inode.
    pub(crate) fn file(&self) -> (u64, u64) {
        self.file
    }

    /// The file at `path`, looked at unless it is open already.
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
