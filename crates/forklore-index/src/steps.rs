//! Limits how many steps SQLite takes for one operation. In a damaged file, a page may lead back to
//! a page above it, and SQLite would follow such a circle without end.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rusqlite::Connection;

/// After how many steps of a statement SQLite reports its progress.
const REPORTED: i32 = 1_000;
/// The number of steps that one operation on a sound index cannot exceed, in addition to
/// [`PER_BYTE`] for each byte of the file.
const ALWAYS: u64 = 100_000_000;
const PER_BYTE: u64 = 16;

/// The steps that SQLite has taken for the present operation, and how many it may take.
#[derive(Clone, Debug, Default)]
pub(crate) struct Steps(Arc<[AtomicU64; 2]>);

impl Steps {
    /// Makes a connection count its steps here.
    pub(crate) fn watch(&self, conn: &mut Connection) -> rusqlite::Result<()> {
        let steps = self.clone();
        conn.progress_handler(REPORTED, Some(move || steps.take()))
    }

    /// Begins an operation: SQLite may take as many steps for it as a sound index can need.
    pub(crate) fn renew(&self, path: Option<&Path>) {
        let file = path.and_then(|path| std::fs::metadata(path).ok());
        let bytes = file.map_or(0, |file| file.len());
        let limit = if path.is_some() { ALWAYS + PER_BYTE * bytes } else { u64::MAX };
        let [count, most] = &*self.0;
        count.store(0, Ordering::Relaxed);
        most.store(limit, Ordering::Relaxed);
    }

    /// Counts some steps. Returns whether the operation must end.
    fn take(&self) -> bool {
        let [count, limit] = &*self.0;
        let steps = u64::from(REPORTED.unsigned_abs());
        count.fetch_add(steps, Ordering::Relaxed) + steps > limit.load(Ordering::Relaxed)
    }
}
