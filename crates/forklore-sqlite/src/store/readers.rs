//! The pool of reading connections.

use std::path::Path;
use std::sync::{Arc, Mutex};

use forklore_store::Result;
use rusqlite::Connection;

use super::Options;
use super::mutex::lock;
use crate::connect::{self, Access, MAPPED_BYTES_LIMIT};
use crate::fault::Fault;
use crate::migrate;
use crate::read_cache::ReadCache;
use crate::steps::{Budget, Steps};

/// Maximum number of idle reading connections in the pool.
const MAX_IDLE: usize = 8;

/// A connection for reading, with its cache of sessions.
#[derive(Debug)]
pub(super) struct Reader {
    pub(super) conn: Connection,
    pub(super) cache: ReadCache,
    /// The steps that the connection may take for its operation.
    pub(super) budget: Budget,
}

#[derive(Debug)]
pub(super) struct Readers {
    access: Access,
    steps: Arc<Steps>,
    idle: Mutex<Vec<Reader>>,
}

impl Reader {
    fn of(mut conn: Connection, steps: &Arc<Steps>, path: &Path) -> Result<Self> {
        let budget = Budget::of(steps);
        let bound = budget.bind(&mut conn);
        bound.map_err(|error| Fault::Sql(error).about("opening the store", path))?;
        Ok(Self { conn, cache: ReadCache::default(), budget })
    }

    /// Gives back the mapped pages of a large file after very much was read from it. Call this
    /// outside a transaction.
    pub(super) fn give_back_mapped(&mut self) {
        if self.cache.payload_bytes < MAPPED_BYTES_LIMIT {
            return;
        }
        self.cache.payload_bytes = 0;
        // If this fails, the next use of the connection reports the reason.
        let _ = connect::give_back_mapped(&self.conn, MAPPED_BYTES_LIMIT);
    }
}

impl Readers {
    /// Creates the pool for the store at `path` with its first reading connection.
    pub(super) fn new(path: &Path, first: Connection, access: Access) -> Result<Self> {
        let steps = Steps::of(path);
        let first = Reader::of(first, &steps, path)?;
        Ok(Self { access, steps, idle: Mutex::new(vec![first]) })
    }

    /// Opens the pool's first reading connection. If that fails and `read_only` is set, tries again
    /// with [`Access::Frozen`].
    pub(super) fn open(path: &Path, options: Options) -> Result<Self> {
        let readable = |access| Self::new(path, begun(path, access, options)?, access);
        match readable(Access::Read) {
            Err(_) if options.read_only => readable(Access::Frozen),
            opened => opened,
        }
    }

    /// Returns the count of the steps that SQLite takes for the store handle.
    pub(super) fn steps(&self) -> &Arc<Steps> {
        &self.steps
    }

    /// Returns how the connections in the pool access the store's file.
    pub(super) fn access(&self) -> Access {
        self.access
    }

    /// Takes an idle connection from the pool, or opens a new one. The connection has already read
    /// once, so SQLite has opened all its files.
    pub(super) fn take(&self, path: &Path, options: Options) -> Result<Reader> {
        loop {
            let Some(reader) = lock(&self.idle).pop() else {
                let conn = begun(path, self.access, options)?;
                return Reader::of(conn, &self.steps, path);
            };
            // If this check fails, use the connection anyway: its next use reports the reason.
            if !options.read_only || !migrate::is_outdated(&reader.conn).unwrap_or_default() {
                return Ok(reader);
            }
        }
    }

    /// Puts a connection back into the pool, or drops it if the pool is full. The connection must
    /// not have had a failure.
    pub(super) fn give_back(&self, reader: Reader) {
        let mut idle = lock(&self.idle);
        if idle.len() < MAX_IDLE {
            idle.push(reader);
        }
    }

    #[cfg(test)]
    pub(super) fn with_first<T>(&self, look: impl FnOnce(&mut Connection) -> T) -> T {
        look(&mut lock(&self.idle)[0].conn)
    }
}

/// Opens a connection and reads once through it, because SQLite opens its files only at the first
/// read. The read uses no table, so that SQLite parses the schema only later, at the first real
/// use.
fn begun(path: &Path, access: Access, options: Options) -> Result<Connection> {
    let conn = connect::open(path, access, options)?;
    migrate::stored_version(&conn)
        .map_err(|error| Fault::Sql(error).about("opening the store", path))?;
    Ok(conn)
}
