//! Answers a question from the index of a store, and replaces an index that cannot answer it.

use forklore_store::Store;
use forklore_store::disk::{self, CacheFolder};

use crate::fault::{Fault, Result};
use crate::file::IndexFile;
use crate::layout::Layout;

/// Maximum number of attempts to answer a question. Another attempt is necessary if the index was
/// damaged, or if another process emptied it meanwhile.
const ATTEMPTS: usize = 3;

/// Returns the store's cache folder. `None` if the store has none, or if the folder is on a network
/// file system, where no index works.
#[must_use]
pub fn folder_of(store: &dyn Store) -> Option<CacheFolder> {
    let path = store.cache_folder()?;
    // SQLite's WAL needs memory that the processes share, so all must run on one machine.
    let is_near = disk::network(disk::folder_of(&path)).is_none();
    is_near.then(|| CacheFolder::at(path))
}

/// Calls `ask` with the index in a cache folder. Calls it again if another process emptied the
/// index meanwhile. If the index is damaged, removes it and calls `ask` with a new one.
///
/// # Errors
/// The error of the last attempt.
pub fn answer<T>(
    folder: &CacheFolder,
    layout: &'static Layout,
    mut ask: impl FnMut(IndexFile) -> Result<T>,
) -> Result<T> {
    let mut attempts = 1;
    loop {
        let fault = match IndexFile::open(folder, layout).and_then(&mut ask) {
            Ok(answer) => return Ok(answer),
            Err(fault) => fault,
        };
        let is_new = match fault {
            Fault::Emptied => true,
            ref fault => fault.is_damage() && IndexFile::discard(folder, layout),
        };
        if !is_new || attempts == ATTEMPTS {
            return Err(fault);
        }
        attempts += 1;
    }
}
