//! The record of a failed sync. After one, a handle writes nothing more.

use std::path::Path;
use std::sync::OnceLock;

use forklore_store::{Error, Result};
use rusqlite::Connection;
use rusqlite::config::DbConfig;

use crate::fault::Fault;

/// The error of the first failed sync, if there was one. What the disk holds is then unknown, and a
/// later sync may succeed nevertheless. Every thread that writes through the handle checks this.
#[derive(Debug, Default)]
pub(super) struct FailedSync(OnceLock<String>);

impl FailedSync {
    /// Records the fault if it is a failed sync and the first one.
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

    /// Refuses any attempt to write to the store at `path`, or to confirm a write as durable, after
    /// a failed sync.
    pub(super) fn check(&self, path: &Path) -> Result<()> {
        match self.0.get().cloned() {
            Some(failure) => Err(Error::Poisoned { location: path.display().to_string(), failure }),
            None => Ok(()),
        }
    }

    /// Closes a read-write connection. After a failed sync, it leaves the WAL in place.
    pub(super) fn close(&self, conn: Connection) {
        if self.0.get().is_some() {
            // Closing would write the WAL back and then delete it. After a failed sync the WAL is
            // the only reliable evidence, so it must stay for the next program that opens the
            // store. SQLite offers this setting only for the close of a connection.
            let _ = conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
        }
        drop(conn);
    }
}
