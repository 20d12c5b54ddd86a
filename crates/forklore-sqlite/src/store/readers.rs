//! The pool of reading connections.

use std::path::Path;
use std::sync::Mutex;

use forklore_store::Result;
use rusqlite::Connection;

use super::Options;
use super::mutex::lock;
use crate::connect::{self, Access, KEPT_MAPPED_BYTES};
use crate::fault::Fault;
use crate::migrate;
use crate::read_cache::ReadCache;

/// Maximum number of idle reading connections in the pool.
const MAX_IDLE: usize = 8;

/// A connection for reading, with its cache of sessions.
#[derive(Debug)]
pub(super) struct Reader {
    pub(super) conn: Connection,
    pub(super) cache: ReadCache,
}

#[derive(Debug)]
pub(super) struct Readers {
    access: Access,
    idle: Mutex<Vec<Reader>>,
}

impl Reader {
    fn of(conn: Connection) -> Self {
        Self { conn, cache: ReadCache::default() }
    }

    /// Gives back the mapped pages of a large file after very much was read from it. Call this
    /// outside a transaction.
    pub(super) fn give_back_mapped(&mut self) {
        if self.cache.payload_bytes < KEPT_MAPPED_BYTES {
            return;
        }
        self.cache.payload_bytes = 0;
        // If this fails, the next use of the connection reports the reason.
        let _ = connect::give_back_mapped(&self.conn, KEPT_MAPPED_BYTES);
    }
}

impl Readers {
    pub(super) fn new(first: Connection, access: Access) -> Self {
        Self { access, idle: Mutex::new(vec![Reader::of(first)]) }
    }

    /// Opens the pool's first reading connection. If that fails and `read_only` is set, tries again
    /// with [`Access::Frozen`].
    pub(super) fn open(path: &Path, options: Options) -> Result<Self> {
        let readable = |access| Ok(Self::new(begun(path, access, options)?, access));
        match readable(Access::Read) {
            Err(_) if options.read_only => readable(Access::Frozen),
            opened => opened,
        }
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
                return begun(path, self.access, options).map(Reader::of);
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
