//! What a failed sync means for a handle: it writes nothing more.

use std::path::Path;
use std::sync::OnceLock;

use forklore_store::{Error, Result};
use rusqlite::Connection;
use rusqlite::config::DbConfig;

use crate::fault::Fault;

/// How a sync failed, if one did: what the disk holds is unknown, and a later sync may succeed all
/// the same (CRAFT D2). Every thread that writes through the handle looks here.
#[derive(Debug, Default)]
pub(super) struct FailedSync(OnceLock<String>);

impl FailedSync {
    /// Remembers the fault if it is a failed sync, and the first one.
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

    /// Refuses whoever wants to write to the store at `path`, or to be told that he has.
    pub(super) fn check(&self, path: &Path) -> Result<()> {
        match self.0.get().cloned() {
            Some(failure) => Err(Error::Poisoned { location: path.display().to_string(), failure }),
            None => Ok(()),
        }
    }

    /// Closes a connection that may write.
    pub(super) fn close(&self, conn: Connection) {
        if self.0.get().is_some() {
            // Closing would write the WAL back, and then delete it. It is all there is to go by,
            // so whoever opens the store next shall find it. A connection refuses this only when
            // it is closed.
            let _ = conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
        }
        drop(conn);
    }
}
