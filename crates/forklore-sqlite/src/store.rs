//! The store handle: one connection that writes, several that read, and the methods with which
//! operations use them.

mod checkpoint;
mod commit_queue;
mod failed_sync;
mod listen;
mod mutex;
mod open;
mod options;
#[cfg(test)]
mod plans;
#[cfg(test)]
mod poison;
mod read_tx;
mod readers;
mod shared_sync;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use forklore_store::Result;
use forklore_store::attachments::AttachmentFolder;
use forklore_store::clock::StoreClock;
use forklore_store::disk::fs::Fs;
use forklore_store::disk::{CacheFolder, Gate, Pass, with_suffix};
use forklore_store::feed::{Bell, Watch};
use rusqlite::{Connection, TransactionBehavior};

use self::mutex::lock;
use crate::connect::{self, Access};
use crate::fault::Fault;
use crate::feed::Numbers;
use crate::migrate;
use crate::open_files::OpenFile;
use crate::origin::Identities;
use crate::read_cache::ReadCache;
use crate::steps::{Budget, Steps};
use crate::sync::File;
use crate::write_tx::WriteTx;

pub use options::{Checkpoints, Options};

use commit_queue::Queue;
use failed_sync::FailedSync;
use read_tx::ReadTx;
use readers::{Reader, Readers};
use shared_sync::{Ticket, Tickets};
use writer::Writer;

/// A session store in one SQLite file that several processes may use at once.
#[derive(Debug)]
pub struct SqliteStore {
    path: PathBuf,
    options: Options,
    gate: Gate,
    bound: AtomicU64,
    numbers: Arc<Mutex<Numbers>>,
    bell: Arc<Bell>,
    watch: Watch,
    queue: Queue,
    tickets: Tickets,
    failed: Arc<FailedSync>,
    // Rust drops fields in declaration order, so `writer` must come after `readers`. The last
    // connection to close writes the WAL back, which a reading connection cannot do. A WAL that is
    // not written back would be read from end to end at every later opening.
    checkpoints: checkpoint::Checkpoints,
    readers: Readers,
    writer: Mutex<Writer>,
    steps: Arc<Steps>,
    /// The steps that the writing connection may take for its operation.
    writing: Budget,
    identities: Identities,
    attachments: Arc<AttachmentFolder>,
    pub(crate) clock: StoreClock,
    // Must be the last field: the file must stay registered as open until all connections are
    // closed.
    open_file: OpenFile,
}

/// When a commit must be durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Durable {
    /// The commit is durable before the call returns. All earlier commits are then durable too.
    #[default]
    Now,
    /// The commit may become durable after the call returns. The next write that uses `Now` makes
    /// it durable too.
    WithNext,
}

impl SqliteStore {
    /// Returns true if a file exists at `path`, or if the store's file is gone but its WAL or
    /// attachments remain. In both cases [`SqliteStore::open`] creates no new store there: it opens
    /// the file or returns an error. Writes nothing.
    #[must_use]
    pub fn exists(path: &Path) -> bool {
        path.symlink_metadata().is_ok() || connect::refuse_remains(path).is_err()
    }

    /// Returns this handle's cache of writers. It contains the session that wrote each segment (a
    /// group of events stored together).
    pub(crate) fn identities(&self) -> &Identities {
        &self.identities
    }

    /// Returns the path of the store's file, with a symbolic link resolved.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the store's attachments. They are files in a folder next to the store's file. The
    /// folder has the name of that file with `-attachments` appended.
    #[must_use]
    pub fn attachments(&self) -> Arc<AttachmentFolder> {
        self.attachments.clone()
    }

    /// Returns the folder for data that is computed from the store. It is next to the store's file
    /// and has the name of that file with `-cache` appended. `None` if the store is open for
    /// reading only.
    pub(crate) fn cache(&self) -> Option<CacheFolder> {
        let path = with_suffix(&self.path, "-cache");
        (!self.options.read_only).then(|| CacheFolder::at(path))
    }

    /// Removes the data that was computed from the store. Returns its size in bytes.
    pub(crate) fn remove_cache(&self) -> Result<u64> {
        self.cache().map_or(Ok(0), |cache| cache.remove(self.options.wait))
    }

    /// Replaces the file system that holds the attachments. For tests.
    #[must_use]
    pub fn with_attachments_on(self, fs: Arc<dyn Fs>) -> Self {
        let (path, read_only) = (self.attachments.path().to_owned(), self.options.read_only);
        let attachments = AttachmentFolder::on(fs, path, read_only).into();
        Self { attachments, ..self }
    }

    /// Returns how connections that only read access the store's file.
    pub(crate) fn reading_access(&self) -> Access {
        self.readers.access()
    }

    /// Replaces the store's clock. For tests.
    #[must_use]
    pub fn with_clock(self, clock: StoreClock) -> Self {
        Self { clock, ..self }
    }

    /// Returns how many bytes of values this handle has bound to the parameters of write statements
    /// so far. For measurements.
    #[must_use]
    pub fn bound_bytes(&self) -> u64 {
        self.bound.load(Ordering::Relaxed)
    }

    /// Returns how many steps SQLite has taken so far for this handle, in thousands. For
    /// measurements that do not depend on the machine.
    #[must_use]
    pub fn kilosteps(&self) -> u64 {
        self.steps.count() / 1_000
    }

    /// Returns how many operations of this handle were ended because they took more steps than a
    /// sound store of its size can need.
    pub(crate) fn endless(&self) -> u64 {
        self.steps.ended()
    }

    /// Runs `step` in a write transaction, which is rolled back if `step` fails. Returns when the
    /// commit is durable.
    pub(crate) fn write<T>(
        &self,
        doing: &str,
        step: impl FnOnce(&WriteTx<'_>) -> Result<T, Fault>,
    ) -> Result<T> {
        self.write_with(Durable::Now, doing, step)
    }

    /// Runs `step` in a write transaction, which is rolled back if `step` fails. `durable` says
    /// whether the commit must be durable when the call returns.
    pub(crate) fn write_with<T>(
        &self,
        durable: Durable,
        doing: &str,
        step: impl FnOnce(&WriteTx<'_>) -> Result<T, Fault>,
    ) -> Result<T> {
        let (value, ticket) = self.commit(doing, |conn| self.transaction(conn, step))?;
        if durable == Durable::Now {
            self.sync(doing, ticket)?;
        }
        self.checkpoints.look();
        Ok(value)
    }

    /// Runs `step` with the store's exclusive lock, so that no other process writes. Opens no
    /// transaction, because SQLite refuses statements such as `VACUUM` inside one. First waits
    /// until this handle's checkpoint ends. Returns when the result is durable.
    pub(crate) fn exclusive<T>(
        &self,
        doing: &str,
        step: impl FnOnce(&Connection) -> Result<T, Fault>,
    ) -> Result<T> {
        self.checkpoints.settle();
        let (value, ticket) = self.commit(doing, |conn| step(conn))?;
        self.sync(doing, ticket)?;
        Ok(value)
    }

    /// Runs `step` on the writing connection, with the store's exclusive lock. `step` must commit
    /// by itself. Returns its value and a ticket, with which the caller waits until the commit is
    /// durable.
    fn commit<T>(
        &self,
        doing: &str,
        step: impl FnOnce(&mut Connection) -> Result<T, Fault>,
    ) -> Result<(T, Ticket)> {
        let mut writer = lock(&self.writer);
        let access = if self.options.read_only { self.readers.access() } else { Access::Write };
        let conn = writer.ready(&self.path, access, self.options)?;
        let passed = self.gate.pass(Pass::Exclusive, self.options.wait)?;
        self.writing.renew();
        let done = step(conn);
        drop(passed);
        match done {
            Ok(value) => {
                self.bell.ring();
                Ok((value, self.tickets.draw()))
            }
            Err(fault) => {
                writer.distrust(&fault);
                Err(fault.about(doing, &self.path))
            }
        }
    }

    fn transaction<T>(
        &self,
        conn: &mut Connection,
        step: impl FnOnce(&WriteTx<'_>) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let check = || migrate::check(&tx, &self.path);
        let (number, left) = lock(&self.numbers).take(&tx, check)?;
        let counted = (&self.bound, &self.writing);
        let tx = WriteTx::new(tx, counted, self.options.chunk_events, number, self.clock.now());
        let value = step(&tx)?;
        tx.commit()?;
        *lock(&self.numbers) = left;
        Ok(value)
    }

    /// Makes all commits durable that were made before `ticket` (the number of a commit) was drawn.
    /// They include commits of other processes that this process has read. Another process may have
    /// been killed before it synced its commits.
    fn sync(&self, doing: &str, ticket: Ticket) -> Result<()> {
        let may = || self.failed.check(&self.path);
        self.tickets.wait(ticket, may, || {
            let reader = self.readers.take(&self.path, self.options)?;
            crate::sync::sync(&reader.conn, File::Wal).map_err(Fault::Sql).map_err(|fault| {
                self.failed.note(&fault);
                fault.about(doing, &self.path)
            })?;
            self.readers.give_back(reader);
            Ok(())
        })
    }

    /// Runs `step` in one read transaction, so that `step` sees one state of the store.
    pub(crate) fn read_with<T>(
        &self,
        doing: &str,
        step: impl FnOnce(&Connection) -> Result<T, Fault>,
    ) -> Result<T> {
        self.read_cached(doing, |conn, _| step(conn))
    }

    /// Runs `step` in one read transaction. Also gives `step` the connection's cache of sessions,
    /// which makes repeated reads faster.
    pub(crate) fn read_cached<T>(
        &self,
        doing: &str,
        step: impl FnOnce(&Connection, &mut ReadCache) -> Result<T, Fault>,
    ) -> Result<T> {
        self.read_in_parts(doing, |conn, cache, _| step(conn, cache))
    }

    /// Runs `step` in one read transaction. Also gives `step` the connection's cache of sessions,
    /// and a function to call before each of several reads. Each of these reads may then take as
    /// many steps of SQLite as a read that runs alone.
    pub(crate) fn read_in_parts<T>(
        &self,
        doing: &str,
        step: impl FnOnce(&Connection, &mut ReadCache, &dyn Fn()) -> Result<T, Fault>,
    ) -> Result<T> {
        let mut reader = self.readers.take(&self.path, self.options)?;
        let Reader { conn, cache, budget } = &mut reader;
        budget.renew();
        let tx = ReadTx::begin(conn).map_err(Fault::Sql);
        let read = tx.and_then(|tx| step(tx.conn(), cache, &|| budget.renew()));
        if !read.as_ref().is_err_and(Fault::spoils) {
            reader.give_back_mapped();
            self.readers.give_back(reader);
        }
        read.map_err(|fault| fault.about(doing, &self.path))
    }
}
