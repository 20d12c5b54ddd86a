//! The store itself: one connection that writes, some that read, and how a step uses them.

#[cfg(test)]
mod plans;
#[cfg(test)]
mod poison;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use forklore_store::Result;
use forklore_store::disk::{Gate, Turn, os};
use rusqlite::{Connection, TransactionBehavior};

use crate::connect::{self, Access};
use crate::fault::Fault;
use crate::migrate::{self, VERSION};
use crate::write::WriteTx;

/// Connections for reading that are kept for later.
const READERS: usize = 8;
/// Steps after which a writer writes the WAL back, outside the gate.
const CHECKPOINT_EVERY: u32 = 512;

/// How to open a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// How long a step waits for other processes.
    pub wait: Duration,
    /// Whether to open an existing store for reading only.
    pub read_only: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { wait: Duration::from_secs(5), read_only: false }
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
}

/// The connection that writes; opened by the first step, and again after one that failed in a way
/// that leaves open what reached the disk.
#[derive(Debug, Default)]
struct Writer {
    conn: Option<Connection>,
    durable: Durable,
    steps: u32,
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
            connect::prepare(path, &gate, options.wait)?;
        }
        let (reader, read_access) = first_reader(path, options)?;
        if migrate::version(&reader, path)? < VERSION {
            connect::upgrade(path, &gate, options.wait)?;
        }
        Ok(Self {
            path: path.to_owned(),
            options,
            read_access,
            gate,
            readers: Mutex::new(vec![reader]),
            writer: Mutex::default(),
            bound: AtomicU64::new(0),
        })
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
        let done = transaction(conn, &self.bound, step);
        drop(turn);
        match done {
            Ok(value) => {
                self.checkpoint(&mut writer);
                Ok(value)
            }
            Err(fault) => {
                if fault.spoils() || !conn.is_autocommit() {
                    writer.conn = None;
                }
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
        if done.as_ref().is_err_and(Fault::spoils) {
            writer.conn = None;
        }
        done.map_err(|fault| fault.about(doing, &self.path))
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
            None => connect::open(&self.path, self.read_access, self.options.wait)?,
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
        let conn = match writer.conn.take() {
            Some(conn) => conn,
            None => {
                writer.durable = Durable::Now;
                connect::open(&self.path, self.write_access(), self.options.wait)?
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

    /// Writes the WAL back now and then, while others pass the gate.
    fn checkpoint(&self, writer: &mut Writer) {
        writer.steps += 1;
        if writer.steps >= CHECKPOINT_EVERY {
            writer.steps = 0;
            if let Some(conn) = &writer.conn {
                // What cannot be written back now stays in the WAL for the next time.
                let _ = conn.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
            }
        }
    }
}

fn transaction<T>(
    conn: &mut Connection,
    bound: &AtomicU64,
    step: impl FnOnce(&WriteTx<'_>) -> Result<T, Fault>,
) -> Result<T, Fault> {
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let tx = WriteTx::new(tx, bound);
    let value = step(&tx)?;
    tx.commit()?;
    Ok(value)
}

/// The first connection for reading, in the way the folder allows it.
fn first_reader(path: &Path, options: Options) -> Result<(Connection, Access)> {
    let readable = |access| {
        let conn = connect::open(path, access, options.wait)?;
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
