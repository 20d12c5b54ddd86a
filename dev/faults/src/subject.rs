//! The stores under test, with their files on a simulated drive.

use std::path::Path;
use std::sync::Arc;

use forklore_files::FilesStore;
use forklore_sqlite::{Checkpoints, Options, SqliteStore};
use forklore_store::attachments::Attachments;
use forklore_store::{Result, Store};

use crate::disk::OnDrive;
use crate::drive::Drive;
use crate::image::Loss;
use crate::vfs::Vfs;

/// Returns the part of a store that stores attachments.
///
/// # Panics
/// If the store does not support attachments.
#[must_use]
pub fn attachments_of(store: &dyn Store) -> Arc<dyn Attachments> {
    store.attachments().expect("a store that keeps attachments")
}

/// A kind of store under test, which can be opened on a simulated drive.
pub trait Subject: Sync {
    /// Opens the store in the directory `dir` and creates it if it does not exist.
    ///
    /// # Errors
    /// The errors of the store.
    fn open(&self, dir: &Path, drive: &Arc<Drive>) -> Result<Box<dyn Store>>;

    /// Returns the simulated losses of unsynced data in a power cut. A store of this kind must
    /// survive each of them.
    fn losses(&self) -> &'static [Loss] {
        &Loss::REAL
    }
}

/// The SQLite store as a store under test. It accesses its files through a VFS (SQLite's interface
/// to files) of its own. Only one test at a time may use a value of this type.
#[derive(Debug)]
pub struct Sqlite {
    vfs: &'static Vfs,
    checkpoints: Checkpoints,
}

impl Sqlite {
    /// The number of pages in SQLite's WAL after which a checkpoint runs. It is low, so that a
    /// workload includes many checkpoints.
    pub const PAGES: u32 = 32;

    /// Creates the SQLite store as a store under test. Registers a VFS (SQLite's interface to
    /// files) under the unique name `name`, for the files of the store. Checkpoints run within a
    /// step of the workload, not in a background thread, so that each run has the same sequence of
    /// file operations.
    #[must_use]
    pub fn over_vfs(name: &'static str) -> Self {
        let checkpoints = Checkpoints { every_pages: Self::PAGES, in_step: true };
        Self { vfs: Vfs::register(name), checkpoints }
    }

    /// Configures the SQLite stores that this value opens to run no checkpoints.
    #[must_use]
    pub fn without_checkpoints(self) -> Self {
        Self { checkpoints: Checkpoints { every_pages: u32::MAX, ..self.checkpoints }, ..self }
    }

    /// Configures the SQLite stores that this value opens to run checkpoints in a background
    /// thread, as in normal operation.
    #[must_use]
    pub fn with_thread(self) -> Self {
        Self { checkpoints: Checkpoints { in_step: false, ..self.checkpoints }, ..self }
    }
}

impl Subject for Sqlite {
    fn open(&self, dir: &Path, drive: &Arc<Drive>) -> Result<Box<dyn Store>> {
        self.vfs.mount(drive);
        let options = Options {
            vfs: Some(self.vfs.name()),
            // A chunk consists of three events, so that the workload seals some chunks.
            chunk_events: 3,
            checkpoints: self.checkpoints,
            ..Options::default()
        };
        let store = SqliteStore::open(&dir.join("store.db"), options)?;
        Ok(Box::new(store.with_attachments_on(Arc::new(OnDrive::new(drive)))))
    }

    fn losses(&self) -> &'static [Loss] {
        &Loss::ALL
    }
}

/// The files store (a directory of JSON lines) as a store under test.
#[derive(Clone, Copy, Debug)]
pub struct Files;

impl Subject for Files {
    fn open(&self, dir: &Path, drive: &Arc<Drive>) -> Result<Box<dyn Store>> {
        let fs = Arc::new(OnDrive::new(drive));
        Ok(Box::new(FilesStore::open_on(fs, &dir.join("store"), Default::default())?))
    }
}
