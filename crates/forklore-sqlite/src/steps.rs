//! Bounds the work of SQLite: an operation may take only as many steps as a sound store of the same
//! size can need.
//!
//! In a damaged file, a page may lead back to a page above it. SQLite follows such a circle through
//! all combinations of its pages, which does not end in practice. The steps of SQLite's virtual
//! machine are therefore counted, and an operation that takes too many fails.

use std::ffi::c_int;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use forklore_store::disk::with_suffix;
use rusqlite::Connection;

/// Number of steps of a statement after which SQLite reports progress.
const REPORTED: c_int = 1_000;
/// Number of steps that any operation may take, however small the store is. This takes about half a
/// second.
const ALWAYS: u64 = 50_000_000;
/// Number of further steps that an operation may take for each byte of the store. A scan of all
/// rows, with all the checks of `PRAGMA integrity_check`, takes less than one step per byte.
const PER_BYTE: u64 = 16;

/// Counts the steps that SQLite takes on all connections of one store handle.
#[derive(Debug)]
pub(crate) struct Steps {
    /// The path of the store's file.
    path: PathBuf,
    count: AtomicU64,
    ended: AtomicU64,
}

/// The steps that one connection may take for the operation that it runs.
#[derive(Clone, Debug)]
pub(crate) struct Budget(Arc<Spending>);

#[derive(Debug)]
struct Spending {
    steps: Arc<Steps>,
    /// The number of steps that the current operation has taken.
    counted: AtomicU64,
    /// The number of steps that the current operation may take. It is [`ALWAYS`] at first. It is
    /// computed from the size of the store only if the operation needs more.
    limit: AtomicU64,
}

impl Steps {
    pub(crate) fn of(path: &Path) -> Arc<Self> {
        let (count, ended) = <_>::default();
        Arc::new(Self { path: path.to_owned(), count, ended })
    }

    /// Returns the number of steps that SQLite has taken for this handle of the store. It is
    /// approximate, because SQLite reports the steps of each prepared statement in thousands.
    pub(crate) fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// Returns the number of operations that were ended because they took too many steps.
    pub(crate) fn ended(&self) -> u64 {
        self.ended.load(Ordering::Relaxed)
    }

    /// Returns how many steps an operation may take in a store of the present size.
    fn limit(&self) -> u64 {
        let length = |path: &Path| std::fs::metadata(path).map_or(0, |found| found.len());
        let bytes = length(&self.path) + length(&with_suffix(&self.path, "-wal"));
        ALWAYS.saturating_add(PER_BYTE.saturating_mul(bytes))
    }
}

impl Budget {
    pub(crate) fn of(steps: &Arc<Steps>) -> Self {
        let (counted, limit) = (AtomicU64::new(0), AtomicU64::new(ALWAYS));
        Self(Arc::new(Spending { steps: Arc::clone(steps), counted, limit }))
    }

    /// Counts the steps of all statements on `conn` against this budget.
    pub(crate) fn bind(&self, conn: &mut Connection) -> rusqlite::Result<()> {
        let budget = self.clone();
        conn.progress_handler(REPORTED, Some(move || budget.is_exceeded()))
    }

    /// Begins an operation: gives it all the steps that it may take.
    pub(crate) fn renew(&self) {
        self.0.counted.store(0, Ordering::Relaxed);
        self.0.limit.store(ALWAYS, Ordering::Relaxed);
    }

    /// Counts the steps that SQLite reports. Returns true if the operation has taken too many.
    fn is_exceeded(&self) -> bool {
        let Spending { steps, counted, limit } = &*self.0;
        let reported = u64::from(REPORTED.unsigned_abs());
        steps.count.fetch_add(reported, Ordering::Relaxed);
        let counted = counted.fetch_add(reported, Ordering::Relaxed) + reported;
        if counted <= limit.load(Ordering::Relaxed) {
            return false;
        }
        let most = steps.limit();
        limit.store(most, Ordering::Relaxed);
        let is_exceeded = counted > most;
        steps.ended.fetch_add(u64::from(is_exceeded), Ordering::Relaxed);
        is_exceeded
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::ErrorCode;

    use super::*;

    #[test]
    fn a_statement_without_an_end_is_ended_and_the_next_one_runs() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("store.db");
        std::fs::write(&path, [0; 100]).unwrap();
        let steps = Steps::of(&path);
        let budget = Budget::of(&steps);
        let mut conn = Connection::open_in_memory().unwrap();
        budget.bind(&mut conn).unwrap();
        let endless = "WITH RECURSIVE n (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM n)
            SELECT max(n) FROM n";
        let ended = conn.query_row(endless, [], |row| row.get::<_, i64>(0)).unwrap_err();
        assert_eq!(ended.sqlite_error_code(), Some(ErrorCode::OperationInterrupted));
        assert_eq!(steps.ended(), 1);
        let most = ALWAYS + 100 * PER_BYTE;
        assert!((most..most + 10_000).contains(&steps.count()), "{}", steps.count());
        budget.renew();
        assert_eq!(conn.query_row("SELECT 1", [], |row| row.get::<_, i64>(0)), Ok(1));
    }
}
