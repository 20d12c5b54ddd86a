//! Opens a store: checks the file, creates or migrates it if necessary, and builds the handle.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex};

use forklore_store::Result;
use forklore_store::attachments::AttachmentFolder;
use forklore_store::clock::StoreClock;
use forklore_store::disk::{Gate, os, with_suffix};
use forklore_store::feed::{Bell, Watch};
use rusqlite::Connection;

use super::checkpoint::Checkpoints;
use super::commit_queue::Queue;
use super::failed_sync::FailedSync;
use super::readers::Readers;
use super::shared_sync::Tickets;
use super::writer::Writer;
use super::{Options, SqliteStore};
use crate::connect::{self, Access};
use crate::migrate::{self, VERSION};
use crate::open_files::OpenFile;
use crate::origin::Identities;
use crate::pack;
use crate::path_safety;
use crate::steps::Budget;

impl SqliteStore {
    /// Opens the store in the file at `path`. If the file does not exist, creates it with mode
    /// 0600, unless `read_only` is set.
    ///
    /// # Errors
    /// - `Denied` if the file or its folder belongs to another user or is writable by everybody.
    /// - `Unsupported` if the file is not a store, was written by a newer version of forklore, or
    ///   is on a network file system.
    /// - `Locked` if another process has the store locked for longer than [`Options::wait`].
    /// - `Io` if reading or writing a file fails.
    pub fn open(path: &Path, options: Options) -> Result<Self> {
        Self::open_for(path, options, Arc::default())
    }

    /// Opens the store in the file at `path`. `failed` records whether a sync has failed; another
    /// handle on the same store may share it.
    pub(super) fn open_for(path: &Path, options: Options, failed: Arc<FailedSync>) -> Result<Self> {
        let path = &path_safety::resolve(path)?;
        let gate = Gate::new(path);
        if options.read_only {
            if !path_safety::check(path)? {
                let missing = std::io::Error::from(std::io::ErrorKind::NotFound);
                return Err(os("opening the store", path)(missing));
            }
        } else {
            connect::prepare(path, &gate, options)?;
        }
        let lock = path_safety::register_open(path)?;
        let mut readers = Readers::open(path, options)?;
        let reader = readers.take(path, options)?;
        if is_current(&reader.conn, path, options)? {
            readers.give_back(reader);
        } else {
            drop(reader);
            connect::upgrade(path, &gate, options)?;
            readers = Readers::open(path, options)?;
        }
        Ok(Self::over(path, options, gate, readers, failed, lock))
    }

    /// Returns a read-only store at `path` that reads through the open connection `reader`. Does
    /// not create or migrate the store.
    pub(crate) fn as_it_is(
        path: &Path,
        leased: OpenFile,
        reader: Connection,
        access: Access,
    ) -> Result<Self> {
        let options = Options { read_only: true, ..Options::default() };
        let readers = Readers::new(path, reader, access)?;
        Ok(Self::over(path, options, Gate::new(path), readers, Arc::default(), leased))
    }

    fn over(
        path: &Path,
        options: Options,
        gate: Gate,
        readers: Readers,
        failed: Arc<FailedSync>,
        open_file: OpenFile,
    ) -> Self {
        let (pages, numbers, bell) = (Arc::default(), Arc::default(), Arc::<Bell>::default());
        let attachments =
            AttachmentFolder::at(with_suffix(path, "-attachments"), options.read_only);
        let attachments = Arc::new(attachments);
        let writing = Budget::of(readers.steps());
        let path = path.to_owned();
        Self {
            checkpoints: Checkpoints::new(
                path.clone(),
                options,
                gate.clone(),
                &failed,
                &pages,
                pack_idle,
            ),
            writer: Mutex::new(Writer::new(&failed, &numbers, &pages, &writing)),
            path,
            options,
            gate,
            bound: AtomicU64::new(0),
            numbers,
            watch: Watch::ringing(Arc::clone(&bell)),
            bell,
            queue: Queue::default(),
            tickets: Tickets::default(),
            failed,
            steps: Arc::clone(readers.steps()),
            writing,
            readers,
            identities: Identities::default(),
            attachments,
            clock: StoreClock::default(),
            open_file,
        }
    }
}

/// Packs (compresses) idle sessions through a second handle of the store. Both handles share the
/// record of failed syncs.
fn pack_idle(
    path: &Path,
    options: Options,
    failed: &Arc<FailedSync>,
    ending: &AtomicBool,
) -> Result<()> {
    let store = SqliteStore::open_for(path, options, Arc::clone(failed))?;
    pack::some(&store, ending)
}

/// Checks whether the store can be used without [`connect::upgrade`]. It can if it has the current
/// version and uses a WAL. With `read_only`, an older version is acceptable too.
fn is_current(conn: &Connection, path: &Path, options: Options) -> Result<bool> {
    let version = migrate::version(conn, path)?;
    Ok(options.read_only || (version == VERSION && connect::has_wal(conn, path)?))
}
