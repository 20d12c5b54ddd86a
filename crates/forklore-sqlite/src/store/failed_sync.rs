//! The record of a failed sync. After a failed sync, a store handle writes nothing more.

use std::path::Path;
use std::sync::OnceLock;

use forklore_store::{Error, Result};
use rusqlite::Connection;
use rusqlite::config::DbConfig;

use crate::fault::Fault;

/// The error of the first failed sync, if one has failed. After a failed sync, it is unknown which
/// data reached the disk, and later syncs do not change that. Every thread therefore checks this
/// before it writes through the handle.
#[derive(Debug, Default)]
pub(super) struct FailedSync(OnceLock<String>);

impl FailedSync {
    /// Records `fault` if it is a failed sync and no failed sync is recorded yet.
    pub(super) fn note(&self, fault: &Fault) {
        if let Fault::Sql(failure) = fault
            && fault.is_failed_sync()
        {
            self.0.get_or_init(|| {
                tracing::error!(%failure, "a sync failed: this handle writes nothing more");
                failure.to_string()
            });
        }
    }

    /// Fails if a sync has failed before. Each operation calls this before it writes to the store
    /// at `path`, and again before it confirms that a write is durable.
    ///
    /// # Errors
    /// `Poisoned` with the error of the first failed sync.
    pub(super) fn check(&self, path: &Path) -> Result<()> {
        match self.0.get().cloned() {
            Some(failure) => Err(Error::Poisoned { location: path.display().to_string(), failure }),
            None => Ok(()),
        }
    }

    /// Closes a read-write connection. If a sync has failed, closes it so that the WAL file remains
    /// on the disk.
    pub(super) fn close(&self, conn: Connection) {
        if self.0.get().is_some() {
            // Without this setting, closing the connection would write the WAL back and then delete
            // it. After a failed sync, only the WAL is reliable. It must remain for the next
            // program that opens the store. SQLite has this setting only for the close of a
            // connection.
            let _ = conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
        }
        drop(conn);
    }
}
