//! A store that is put on a drive.

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

/// The attachments of a store that keeps some.
///
/// # Panics
/// When it keeps none.
#[must_use]
pub fn attachments_of(store: &dyn Store) -> Arc<dyn Attachments> {
    store.attachments().expect("a store that keeps attachments")
}

/// Opens stores whose files lie on a drive.
pub trait Subject: Sync {
    /// Opens the store in the folder `dir`, making it where there is none.
    ///
    /// # Errors
    /// Those of the store.
    fn open(&self, dir: &Path, drive: &Arc<Drive>) -> Result<Box<dyn Store>>;

    /// What it gets over when the power is cut.
    fn losses(&self) -> &'static [Loss] {
        &Loss::REAL
    }
}

/// The SQLite store, over a VFS of its own. One test uses it at a time.
#[derive(Debug)]
pub struct Sqlite {
    vfs: &'static Vfs,
    checkpoints: Checkpoints,
}

impl Sqlite {
    /// Pages in the WAL after which it is written back: few, so that a workload meets many
    /// checkpoints.
    pub const PAGES: u32 = 32;

    /// The store over a VFS that is registered under this name, which no other may have. A step
    /// does the checkpoints, so that the operations are the same in each run.
    #[must_use]
    pub fn over_vfs(name: &'static str) -> Self {
        let checkpoints = Checkpoints { every_pages: Self::PAGES, in_step: true };
        Self { vfs: Vfs::register(name), checkpoints }
    }

    /// The same without checkpoints.
    #[must_use]
    pub fn without_checkpoints(self) -> Self {
        Self { checkpoints: Checkpoints { every_pages: u32::MAX, ..self.checkpoints }, ..self }
    }

    /// The same with the thread that does the checkpoints else.
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
            // Few events make a chunk, so that the workload seals some.
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

/// The files store.
#[derive(Clone, Copy, Debug)]
pub struct Files;

impl Subject for Files {
    fn open(&self, dir: &Path, drive: &Arc<Drive>) -> Result<Box<dyn Store>> {
        let fs = Arc::new(OnDrive::new(drive));
        Ok(Box::new(FilesStore::open_on(fs, &dir.join("store"), Default::default())?))
    }
}
