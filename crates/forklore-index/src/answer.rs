//! Answers a question from the index of a store, and replaces an index that cannot answer it.

use forklore_store::Store;
use forklore_store::disk::{self, CacheFolder};

use crate::fault::{Fault, Result};
use crate::file::IndexFile;
use crate::layout::Layout;

/// How often to begin again if another process empties the index meanwhile.
const ATTEMPTS: usize = 3;

/// Returns a store's cache folder. `None` if there can be no index in it.
#[must_use]
pub fn folder_of(store: &dyn Store) -> Option<CacheFolder> {
    let path = store.cache_folder()?;
    // SQLite's WAL needs memory that the processes share, so all must run on one machine.
    let is_near = disk::network(disk::folder_of(&path)).is_none();
    is_near.then(|| CacheFolder::at(path))
}

/// Calls `ask` with the index in a cache folder, and again with a new index if the index is damaged
/// or another process emptied it.
///
/// # Errors
/// The last error, if the index cannot be used.
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
