//! The file of an index: opens it, protects it, and writes to it in transactions.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use forklore_store::disk::{self, CacheFolder, Pass, Passed, os};
use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use crate::fault::Result;
use crate::layout::{self, Layout};
use crate::steps::Steps;

/// The permissions of the index file: only its owner may read and write it.
const PRIVATE: u32 = 0o600;
/// The maximum time to wait for another process that updates or removes the index.
const WAIT: Duration = Duration::from_secs(5);
/// Number of prepared statements that the connection caches.
const STATEMENTS: usize = 64;
/// Size of a page of a new index, in bytes. With larger pages than SQLite's default of 4,096, the
/// rows of a full-text index need fewer changes of the tree that contains them.
const PAGE: u32 = 16 << 10;
/// Size of SQLite's page cache, in KiB.
const CACHE_KIB: u32 = 32 << 10;

/// An open index. It has a lock on the cache folder, so that no other process removes the index.
pub struct IndexFile {
    conn: Connection,
    layout: &'static Layout,
    steps: Steps,
    /// The path of the file. `None` for a temporary index.
    path: Option<PathBuf>,
    // Must be the last field: the files may be removed once the folder is unlocked, and the
    // connection must be closed by then.
    _passed: Option<Passed>,
}

/// The state of an index: how often it was emptied, and how far it has followed its store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// How often the index was emptied.
    pub epoch: i64,
    /// The position in the store's feed up to which the index has recorded the changes of sessions.
    /// `None` in an empty index.
    pub mark: Option<String>,
}

impl IndexFile {
    /// Opens the index in a cache folder. Creates the folder and the index if they do not exist.
    ///
    /// # Errors
    /// `Store` if the folder or the file cannot be used; `Sql` if SQLite fails.
    pub fn open(folder: &CacheFolder, layout: &'static Layout) -> Result<Self> {
        let passed = folder.enter(Pass::Shared, WAIT)?;
        let path = folder.path().join(layout.file);
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let conn = Connection::open_with_flags(&path, flags)?;
        protect(&path)?;
        Self::prepared(conn, layout, Some(path), Some(passed))
    }

    /// Creates a temporary index, for a store without a place for an index. Only this process sees
    /// the index, and it is gone when it is closed.
    ///
    /// # Errors
    /// `Sql` if SQLite fails.
    pub fn temporary(layout: &'static Layout) -> Result<Self> {
        // SQLite writes the index to a file without a name if the index does not fit into the page
        // cache.
        Self::prepared(Connection::open("")?, layout, None, None)
    }

    /// Removes the files of a damaged index. Returns whether they were removed: `false` if another
    /// process uses them.
    #[must_use]
    pub fn discard(folder: &CacheFolder, layout: &Layout) -> bool {
        let passed = folder.enter(Pass::Exclusive, Duration::ZERO);
        passed.is_ok_and(|_passed| folder.remove_files(layout.file).is_ok())
    }

    fn prepared(
        conn: Connection,
        layout: &'static Layout,
        path: Option<PathBuf>,
        passed: Option<Passed>,
    ) -> Result<Self> {
        let mut index = Self { conn, layout, steps: Steps::default(), path, _passed: passed };
        index.conn.busy_timeout(WAIT)?;
        index.conn.set_prepared_statement_cache_capacity(STATEMENTS);
        index.steps.watch(&mut index.conn)?;
        index.renew();
        index.conn.execute_batch(&format!(
            "PRAGMA page_size = {PAGE}; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
             PRAGMA cache_size = -{CACHE_KIB};"
        ))?;
        let form = layout::form(&index.conn)?;
        if form.as_deref() != Some(layout.form) {
            index.write(|conn| layout.make(conn))?;
        }
        Ok(index)
    }

    /// Returns the SQLite connection, with which a caller reads the index.
    #[must_use]
    pub fn conn(&self) -> &Connection {
        &self.conn
    }

    /// Returns the description of the index.
    #[must_use]
    pub fn layout(&self) -> &'static Layout {
        self.layout
    }

    /// Begins an operation: resets the number of steps that SQLite may take to what an operation on
    /// an undamaged index can need.
    pub fn renew(&self) {
        self.steps.renew(self.path.as_deref());
    }

    /// Runs `step` in a write transaction, and commits the transaction. If `step` fails, rolls it
    /// back.
    ///
    /// # Errors
    /// The error of `step`, or `Sql` if SQLite fails.
    pub fn write<T>(&mut self, step: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        self.renew();
        let tx = self.conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let value = step(&tx)?;
        tx.commit()?;
        Ok(value)
    }
}

impl std::fmt::Debug for IndexFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("IndexFile").field("path", &self.path).finish_non_exhaustive()
    }
}

/// Makes the file of an index private. The files that SQLite puts next to it get the same rights.
///
/// This function does not open the file, because closing it again would release the locks of all
/// SQLite connections of this process.
fn protect(path: &Path) -> Result<()> {
    let found = std::fs::metadata(path).map_err(os("opening", path))?;
    disk::refuse_others(path, &found)?;
    if found.permissions().mode() & 0o777 != PRIVATE {
        let private = Permissions::from_mode(PRIVATE);
        std::fs::set_permissions(path, private).map_err(os("protecting", path))?;
    }
    Ok(())
}

/// Returns the state of an index.
///
/// # Errors
/// `Sql` if SQLite fails.
pub fn state(conn: &Connection) -> Result<State> {
    let mut statement = conn.prepare_cached("SELECT epoch, mark FROM state")?;
    Ok(statement.query_row([], |row| Ok(State { epoch: row.get(0)?, mark: row.get(1)? }))?)
}
