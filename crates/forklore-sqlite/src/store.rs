//! The store itself: one connection that writes, some that read, and how a step uses them.

#[cfg(test)]
mod plans;
#[cfg(test)]
mod poison;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use forklore_store::disk::{Gate, Turn, os};
use forklore_store::{Error, Result};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, TransactionBehavior};

use crate::connect::{self, Access};
use crate::fault::Fault;
use crate::held::Held;
use crate::migrate::{self, VERSION};
use crate::write::WriteTx;

/// Connections for reading that are kept for later.
const READERS: usize = 8;
/// Steps after which a writer writes the WAL back, outside the gate.
const CHECKPOINT_EVERY: u32 = 512;
/// Pages in the WAL after which it does so whatever the number of steps.
const CHECKPOINT_PAGES: u32 = 8_000;

/// How to open a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// How long a step waits for other processes.
    pub wait: Duration,
    /// Whether to open an existing store for reading only.
    pub read_only: bool,
    /// The VFS through which SQLite reaches its files, by the name it is registered under; none is
    /// SQLite's own. What the store itself does to files while it makes a new one, which is to
    /// give it its place when it is whole, passes it by.
    pub vfs: Option<&'static str>,
    /// How many events are sealed into one row, at most 64. Fewer make a slower store; they are for
    /// tests of small ones.
    pub chunk_events: u8,
}

impl Default for Options {
    fn default() -> Self {
        Self { wait: Duration::from_secs(5), read_only: false, vfs: None, chunk_events: 64 }
    }
}

/// Keeps sessions in one SQLite file that several processes may use at once.
#[derive(Debug)]
pub struct SqliteStore {
    path: PathBuf,
    options: Options,
    read_access: Access,
    gate: Gate,
    // Fields are dropped in this order, and the connection closed last writes the WAL back: one
    // that reads cannot, and each later opening would read a WAL left behind from end to end.
    readers: Mutex<Vec<Connection>>,
    writer: Mutex<Writer>,
    bound: AtomicU64,
    // Last: until the connections are closed.
    _held: Held,
}

/// The connection that writes; opened by the first step, and again after one that failed in a way
/// that leaves open what reached the disk.
#[derive(Debug, Default)]
struct Writer {
    conn: Option<Connection>,
    durable: Durable,
    steps: u32,
    /// Pages in the WAL behind the last commit.
    pages: Arc<AtomicU32>,
    /// How a sync failed; nothing is written any more (CRAFT D2).
    failed_sync: Option<String>,
}

/// When a step has to be durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Durable {
    /// When it returns; every step before it is then durable too.
    #[default]
    Now,
    /// With the next step that is.
    WithNext,
}

impl SqliteStore {
    /// Opens the store in the file at `path`; unless it is to be read only, it is made when it is
    /// not there, for its owner's eyes only.
    ///
    /// # Errors
    /// `Denied` when the file or its folder is another user's or may be written by everybody;
    /// `Unsupported` when the file is no store, a newer program made it, or it stands on a network
    /// file system; `Io`, `Locked`.
    pub fn open(path: &Path, options: Options) -> Result<Self> {
        let path = &crate::location::resolve(path)?;
        let gate = Gate::beside(path);
        if options.read_only {
            if !crate::location::check(path)? {
                let missing = std::io::Error::from(std::io::ErrorKind::NotFound);
                return Err(os("opening the store", path)(missing));
            }
        } else {
            connect::prepare(path, &gate, options)?;
        }
        let held = crate::location::hold(path)?;
        let (reader, read_access) = first_reader(path, options)?;
        if migrate::version(&reader, path)? < VERSION && !options.read_only {
            connect::upgrade(path, &gate, options)?;
        }
        Ok(Self {
            path: path.to_owned(),
            options,
            read_access,
            gate,
            readers: Mutex::new(vec![reader]),
            writer: Mutex::default(),
            bound: AtomicU64::new(0),
            _held: held,
        })
    }

    /// The store at `path` to look at through `reader`: nothing is made or brought to this version.
    pub(crate) fn as_it_is(
        path: &Path,
        held: Held,
        reader: Connection,
        read_access: Access,
    ) -> Self {
        Self {
            path: path.to_owned(),
            options: Options { read_only: true, ..Options::default() },
            read_access,
            gate: Gate::beside(path),
            readers: Mutex::new(vec![reader]),
            writer: Mutex::default(),
            bound: AtomicU64::new(0),
            _held: held,
        }
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The bytes of all values that this handle has written into rows so far, for measurements.
    #[must_use]
    pub fn bound_bytes(&self) -> u64 {
        self.bound.load(Ordering::Relaxed)
    }

    /// Takes one step that writes: all of it or nothing, durable when it returns.
    pub(crate) fn write<T>(
        &self,
        doing: &str,
        step: impl FnOnce(&WriteTx<'_>) -> Result<T, Fault>,
    ) -> Result<T> {
        self.write_with(Durable::Now, doing, step)
    }

    /// Takes one step that writes: all of it or nothing.
    pub(crate) fn write_with<T>(
        &self,
        durable: Durable,
        doing: &str,
        step: impl FnOnce(&WriteTx<'_>) -> Result<T, Fault>,
    ) -> Result<T> {
        let mut writer = lock(&self.writer);
        let conn = self.writer(&mut writer, durable)?;
        let turn = self.gate.pass(Turn::Alone, self.options.wait)?;
        let done = transaction(conn, &self.bound, self.options, durable, step);
        drop(turn);
        match done {
            Ok(value) => {
                writer.checkpoint();
                Ok(value)
            }
            Err(fault) => {
                writer.distrust(&fault);
                Err(fault.about(doing, &self.path))
            }
        }
    }

    /// Runs what cannot run inside a transaction, while no other process writes.
    pub(crate) fn exclusive<T>(
        &self,
        doing: &str,
        step: impl FnOnce(&Connection) -> Result<T, Fault>,
    ) -> Result<T> {
        let mut writer = lock(&self.writer);
        let conn = self.writer(&mut writer, Durable::Now)?;
        let turn = self.gate.pass(Turn::Alone, self.options.wait)?;
        let done = step(conn);
        drop(turn);
        done.map_err(|fault| {
            writer.distrust(&fault);
            fault.about(doing, &self.path)
        })
    }

    /// Takes one step that reads, from one state of the store.
    pub(crate) fn read_with<T>(
        &self,
        doing: &str,
        step: impl FnOnce(&Connection) -> Result<T, Fault>,
    ) -> Result<T> {
        let kept = lock(&self.readers).pop();
        let conn = match kept {
            Some(conn) => conn,
            None => connect::open(&self.path, self.read_access, self.options)?,
        };
        let read = conn.unchecked_transaction().map_err(Fault::Sql).and_then(|tx| step(&tx));
        match &read {
            Err(fault) if fault.spoils() => {}
            _ => {
                let mut readers = lock(&self.readers);
                if readers.len() < READERS {
                    readers.push(conn);
                }
            }
        }
        read.map_err(|fault| fault.about(doing, &self.path))
    }

    fn writer<'w>(&self, writer: &'w mut Writer, durable: Durable) -> Result<&'w mut Connection> {
        if let Some(failure) = writer.failed_sync.clone() {
            return Err(Error::Poisoned { place: self.path.display().to_string(), failure });
        }
        let conn = match writer.conn.take() {
            Some(conn) => conn,
            None => {
                writer.durable = Durable::Now;
                let mut conn = connect::open(&self.path, self.write_access(), self.options)?;
                connect::tell_pages(&mut conn, &writer.pages)
                    .map_err(|fault| fault.about("opening the store", &self.path))?;
                conn
            }
        };
        if writer.durable != durable {
            connect::set_durable(&conn, durable)
                .map_err(|fault| fault.about("preparing a step", &self.path))?;
            writer.durable = durable;
        }
        Ok(writer.conn.insert(conn))
    }

    fn write_access(&self) -> Access {
        if self.options.read_only { self.read_access } else { Access::Write }
    }
}

impl Writer {
    /// Writes the WAL back now and then, while others pass the gate.
    fn checkpoint(&mut self) {
        self.steps += 1;
        let pages = self.pages.load(Ordering::Relaxed);
        if self.steps < CHECKPOINT_EVERY && pages < CHECKPOINT_PAGES {
            return;
        }
        self.steps = 0;
        let Some(conn) = &self.conn else { return };
        // The step is durable in the WAL. What cannot be written back now stays there for the
        // next time; but where a sync failed, there is none.
        let done = conn.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
        if let Err(fault) = done.map_err(Fault::Sql) {
            self.distrust(&fault);
        }
    }

    /// Gives the connection up after a step that failed in a way that leaves open what reached the
    /// disk; after a failed sync there is no other.
    fn distrust(&mut self, fault: &Fault) {
        if let Fault::Sql(failure) = fault
            && fault.is_failed_sync()
        {
            self.failed_sync = Some(failure.to_string());
            if let Some(conn) = &self.conn {
                // Closing would write the WAL back, and then delete it. It is all there is to go
                // by, so whoever opens the store next shall find it. A connection refuses this
                // only when it is closed.
                let _ = conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
            }
        }
        if fault.spoils() || self.conn.as_ref().is_some_and(|conn| !conn.is_autocommit()) {
            self.conn = None;
        }
    }
}

fn transaction<T>(
    conn: &mut Connection,
    bound: &AtomicU64,
    options: Options,
    durable: Durable,
    step: impl FnOnce(&WriteTx<'_>) -> Result<T, Fault>,
) -> Result<T, Fault> {
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let tx = WriteTx::new(tx, bound, options.chunk_events);
    let before = tx.total_changes();
    let value = step(&tx)?;
    if durable == Durable::Now && tx.total_changes() == before {
        // What it found there may be from a process that was killed before it was durable. Only a
        // commit that writes syncs, so the first page is written as it is.
        tx.pragma_update(None, "application_id", migrate::APPLICATION_ID)?;
    }
    tx.commit()?;
    Ok(value)
}

/// The first connection for reading, in the way the folder allows it.
fn first_reader(path: &Path, options: Options) -> Result<(Connection, Access)> {
    let readable = |access| {
        let conn = connect::open(path, access, options)?;
        // SQLite opens files at the first read only.
        conn.query_row("SELECT count(*) FROM upkeep", [], |_| Ok(()))
            .map_err(|error| Fault::Sql(error).about("opening the store", path))?;
        Ok((conn, access))
    };
    match readable(Access::Read) {
        Err(_) if options.read_only => readable(Access::Frozen),
        opened => opened,
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic cannot leave the value half changed: a transaction is rolled back.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
