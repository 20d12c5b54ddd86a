//! A standing index: the quads of a store's sessions in a SQLite file of its own, in the cache
//! folder of the store.
//!
//! The index is a projection and never a source of truth. It is brought up to date before each
//! question (`update`), by as much as the sessions changed since the last one. What it contains and
//! how far it has followed the sessions is written in one transaction, so that a process may be
//! killed at any moment. Damage has one remedy: the index is removed and built again.

mod dataset;
mod fault;
mod quads;
mod scan;
mod sessions;
mod terms;
mod update;
mod witness;

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use forklore_store::disk::{self, CacheFolder, Pass, Passed, os};
use rusqlite::{Connection, OpenFlags, TransactionBehavior};

pub(crate) use dataset::Dataset;
pub(crate) use fault::Fault;
pub(crate) use sessions::Selection;

use fault::Result;

/// The name of the index's file in the cache folder. The names of SQLite's other files begin with
/// it.
const FILE: &str = "graph.db";
/// The access rights of the file.
const PRIVATE: u32 = 0o600;
/// The form of the tables and of what the projection states. A new form makes every index be built
/// again, and so does a new version of forklore.
const FORM: &str = concat!("1 ", env!("CARGO_PKG_VERSION"));

/// How long to wait for another process that updates or removes the index.
const WAIT: Duration = Duration::from_secs(5);
/// Number of prepared statements that the connection caches.
const STATEMENTS: usize = 64;
/// Size of the page cache, in KiB.
const CACHE_KIB: u32 = 32 << 10;

/// After how many steps of a statement SQLite reports its progress.
const REPORTED: i32 = 1_000;
/// The number of steps that one operation on a sound index cannot exceed, in addition to
/// [`PER_BYTE`] for each byte of the file. In a damaged file, a page may lead back to a page above
/// it, and SQLite would follow such a circle without end.
const ALWAYS: u64 = 100_000_000;
const PER_BYTE: u64 = 16;

const SCHEMA: &str = "
CREATE TABLE state (form TEXT NOT NULL, epoch INTEGER NOT NULL, mark TEXT);
CREATE TABLE term (
    id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, kind INTEGER NOT NULL, value TEXT NOT NULL,
    extra TEXT);
CREATE TABLE quad (
    s INTEGER NOT NULL, p INTEGER NOT NULL, o INTEGER NOT NULL, g INTEGER NOT NULL,
    PRIMARY KEY (s, p, o, g)) WITHOUT ROWID;
CREATE INDEX quad_by_predicate ON quad (p, o, s, g);
CREATE TABLE subject (
    g INTEGER NOT NULL, s INTEGER NOT NULL, PRIMARY KEY (g, s)) WITHOUT ROWID;
CREATE TABLE session (
    id TEXT PRIMARY KEY, graph INTEGER NOT NULL, principal INTEGER, root TEXT NOT NULL,
    parent TEXT, workspace TEXT NOT NULL, deleted INTEGER NOT NULL, pending INTEGER NOT NULL,
    indexed_events INTEGER, indexed_label TEXT, indexed_deleted INTEGER NOT NULL DEFAULT 0
    ) WITHOUT ROWID;
CREATE INDEX session_by_root ON session (root);
CREATE INDEX session_by_parent ON session (parent);
CREATE INDEX session_by_workspace ON session (workspace);
CREATE INDEX session_pending ON session (root) WHERE pending;
CREATE TABLE witness (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, events INTEGER NOT NULL,
    updated TEXT NOT NULL, head INTEGER NOT NULL, event TEXT);
";

/// An open index, and its lock on the cache folder.
pub(crate) struct Index {
    conn: Connection,
    steps: Steps,
    path: PathBuf,
    // Must be the last field: the files may be removed once the folder is unlocked, and the
    // connection must be closed by then.
    _passed: Passed,
}

/// The steps that SQLite has taken for the present operation, and how many it may take.
#[derive(Clone, Debug, Default)]
struct Steps(Arc<[AtomicU64; 2]>);

/// What an index says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
struct State {
    /// Increases when the index is emptied.
    epoch: i64,
    /// The position in the store's feed up to which the table `session` is up to date. `None` in an
    /// empty index.
    mark: Option<String>,
}

impl Index {
    /// Opens the index in a cache folder. Creates the folder and the index if they do not exist.
    pub(crate) fn open(folder: &CacheFolder) -> Result<Self> {
        let passed = folder.enter(Pass::Shared, WAIT)?;
        let path = folder.path().join(FILE);
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let conn = Connection::open_with_flags(&path, flags)?;
        protect(&path)?;
        let mut index = Self { conn, steps: Steps::default(), path, _passed: passed };
        index.prepare()?;
        Ok(index)
    }

    /// Removes the files of a damaged index. Returns false if another process uses them.
    pub(crate) fn discard(folder: &CacheFolder) -> bool {
        let passed = folder.enter(Pass::Exclusive, Duration::ZERO);
        passed.is_ok_and(|_passed| folder.remove_files(FILE).is_ok())
    }

    fn prepare(&mut self) -> Result<()> {
        self.conn.busy_timeout(WAIT)?;
        self.conn.set_prepared_statement_cache_capacity(STATEMENTS);
        let steps = self.steps.clone();
        self.conn.progress_handler(REPORTED, Some(move || steps.take()))?;
        self.renew();
        self.conn.execute_batch(&format!(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
             PRAGMA cache_size = -{CACHE_KIB};"
        ))?;
        let form = self.form()?;
        if form.as_deref() != Some(FORM) {
            self.write(make)?;
        }
        Ok(())
    }

    /// Returns the form of the index, or `None` if it has no tables yet.
    fn form(&self) -> Result<Option<String>> {
        form(&self.conn)
    }

    fn state(&self) -> Result<State> {
        state(&self.conn)
    }

    /// Begins an operation: SQLite may take as many steps for it as a sound index can need.
    fn renew(&self) {
        let bytes = std::fs::metadata(&self.path).map_or(0, |file| file.len());
        self.steps.renew(ALWAYS + PER_BYTE * bytes);
    }

    /// Runs `step` in a write transaction, which is rolled back if `step` fails.
    fn write<T>(&mut self, step: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        self.renew();
        let tx = self.conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let value = step(&tx)?;
        tx.commit()?;
        Ok(value)
    }
}

impl Steps {
    /// Counts some steps. Returns whether the operation must end.
    fn take(&self) -> bool {
        let [count, limit] = &*self.0;
        let steps = u64::from(REPORTED.unsigned_abs());
        count.fetch_add(steps, Ordering::Relaxed) + steps > limit.load(Ordering::Relaxed)
    }

    fn renew(&self, limit: u64) {
        let [count, most] = &*self.0;
        count.store(0, Ordering::Relaxed);
        most.store(limit, Ordering::Relaxed);
    }
}

/// Makes the file of an index private. The files that SQLite puts next to it get the same rights.
///
/// The file is not opened for that: to close it again would release the locks of all connections of
/// this process.
fn protect(path: &Path) -> Result<()> {
    let found = std::fs::metadata(path).map_err(os("opening", path))?;
    disk::refuse_others(path, &found)?;
    if found.permissions().mode() & 0o777 != PRIVATE {
        let private = Permissions::from_mode(PRIVATE);
        std::fs::set_permissions(path, private).map_err(os("protecting", path))?;
    }
    Ok(())
}

fn form(conn: &Connection) -> Result<Option<String>> {
    let sql = "SELECT 1 FROM sqlite_schema WHERE name = 'state'";
    if !conn.prepare_cached(sql)?.exists([])? {
        return Ok(None);
    }
    Ok(Some(conn.query_row("SELECT form FROM state", [], |row| row.get(0))?))
}

/// Creates the tables, in place of those of another form.
fn make(conn: &Connection) -> Result<()> {
    // Another process may have created them before this one got the lock.
    if form(conn)?.as_deref() == Some(FORM) {
        return Ok(());
    }
    let tables = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";
    let mut statement = conn.prepare(tables)?;
    let tables: Vec<String> =
        statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    for table in tables {
        conn.execute_batch(&format!("DROP TABLE \"{}\"", table.replace('"', "\"\"")))?;
    }
    conn.execute_batch(SCHEMA)?;
    conn.execute("INSERT INTO state (form, epoch) VALUES (?, 0)", [FORM])?;
    Ok(())
}

fn state(conn: &Connection) -> Result<State> {
    let mut statement = conn.prepare_cached("SELECT epoch, mark FROM state")?;
    Ok(statement.query_row([], |row| Ok(State { epoch: row.get(0)?, mark: row.get(1)? }))?)
}

/// Empties the index, because it is of another store, or of a later state of this one.
fn empty(conn: &Connection) -> Result<()> {
    conn.execute_batch(
        "DELETE FROM quad; DELETE FROM subject; DELETE FROM session; DELETE FROM witness;
         DELETE FROM term; UPDATE state SET epoch = epoch + 1, mark = NULL;",
    )?;
    Ok(())
}
