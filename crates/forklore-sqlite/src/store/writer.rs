//! The connection that writes.

use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use forklore_store::Result;
use rusqlite::Connection;
use rusqlite::hooks::Wal;

use super::Options;
use super::failed_sync::FailedSync;
use super::mutex::lock;
use crate::connect::{self, Access};
use crate::fault::Fault;
use crate::feed::Numbers;
use crate::steps::Budget;

/// The connection that writes. The first write opens it. It is closed after a failure that leaves
/// unknown which data reached the disk; the next write then opens a new one.
#[derive(Debug)]
pub(super) struct Writer {
    conn: Option<Connection>,
    failed: Arc<FailedSync>,
    /// The transaction numbers that the connection has reserved for the feed (the sequence of
    /// changed sessions).
    numbers: Arc<Mutex<Numbers>>,
    /// The number of pages in the WAL after this connection's last commit.
    pages: Arc<AtomicU32>,
    budget: Budget,
}

impl Writer {
    pub(super) fn new(
        failed: &Arc<FailedSync>,
        numbers: &Arc<Mutex<Numbers>>,
        pages: &Arc<AtomicU32>,
        budget: &Budget,
    ) -> Self {
        let (failed, numbers, pages) = (failed.clone(), numbers.clone(), pages.clone());
        Self { conn: None, failed, numbers, pages, budget: budget.clone() }
    }

    /// Returns the writing connection; opens it if it is not open.
    pub(super) fn ready(
        &mut self,
        path: &Path,
        access: Access,
        options: Options,
    ) -> Result<&mut Connection> {
        self.failed.check(path)?;
        let conn = match self.conn.take() {
            Some(conn) => conn,
            None => self.open(path, access, options)?,
        };
        Ok(self.conn.insert(conn))
    }

    fn open(&self, path: &Path, access: Access, options: Options) -> Result<Connection> {
        let mut conn = connect::open(path, access, options)?;
        *lock(&self.numbers) = Numbers::default();
        let pages = Arc::clone(&self.pages);
        let previous = conn.wal_hook(Some(move |_: &mut Wal, now: i32| {
            pages.store(now.unsigned_abs(), Ordering::Relaxed);
            Ok(())
        }));
        previous
            .and_then(|_| self.budget.bind(&mut conn))
            .map_err(|error| Fault::Sql(error).about("opening the store", path))?;
        Ok(conn)
    }

    /// Closes the writing connection if `fault` makes it unusable. It is unusable if it is unknown
    /// which data reached the disk, or if a transaction is still open. Records a failed sync, after
    /// which no new connection is opened.
    pub(super) fn distrust(&mut self, fault: &Fault) {
        self.failed.note(fault);
        if fault.spoils() || self.conn.as_ref().is_some_and(|conn| !conn.is_autocommit()) {
            self.close();
        }
    }

    fn close(&mut self) {
        if let Some(conn) = self.conn.take() {
            self.failed.close(conn);
        }
    }

    #[cfg(test)]
    pub(super) fn connection(&mut self) -> Option<&mut Connection> {
        self.conn.as_mut()
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.close();
    }
}
