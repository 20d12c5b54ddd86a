//! Limits how many steps SQLite takes for one operation. In a damaged file, a page may refer back
//! to a page above it. Without a limit, SQLite would follow such a circle without end.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rusqlite::Connection;

/// The number of steps after which SQLite reports its progress again.
const REPORTED: i32 = 1_000;
/// The part of the limit on the steps of one operation that does not depend on the size of the
/// file. [`PER_BYTE`] steps are added for each byte of the file. An operation on an undamaged index
/// stays below the sum of both.
const ALWAYS: u64 = 100_000_000;
const PER_BYTE: u64 = 16;

/// The number of steps that SQLite has taken for the current operation, and the maximum for this
/// operation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Steps(Arc<[AtomicU64; 2]>);

impl Steps {
    /// Makes a connection count its steps with this counter, and stop an operation at the maximum.
    pub(crate) fn watch(&self, conn: &mut Connection) -> rusqlite::Result<()> {
        let steps = self.clone();
        conn.progress_handler(REPORTED, Some(move || steps.take()))
    }

    /// Begins an operation: sets the count to 0 and computes the maximum from the size of the index
    /// file. Without a file, there is no maximum.
    pub(crate) fn renew(&self, path: Option<&Path>) {
        let file = path.and_then(|path| std::fs::metadata(path).ok());
        let bytes = file.map_or(0, |file| file.len());
        let limit = if path.is_some() { ALWAYS + PER_BYTE * bytes } else { u64::MAX };
        let [count, most] = &*self.0;
        count.store(0, Ordering::Relaxed);
        most.store(limit, Ordering::Relaxed);
    }

    /// Adds the steps since the last report. Returns whether the operation must be stopped.
    fn take(&self) -> bool {
        let [count, limit] = &*self.0;
        let steps = u64::from(REPORTED.unsigned_abs());
        count.fetch_add(steps, Ordering::Relaxed) + steps > limit.load(Ordering::Relaxed)
    }
}
