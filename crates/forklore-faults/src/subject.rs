//! A store that is put on a drive.

use std::path::Path;
use std::sync::Arc;

use forklore_files::FilesStore;
use forklore_sqlite::SqliteStore;
use forklore_store::port::Upkeep;
use forklore_store::sources::Sources;
use forklore_store::{Result, Store};

use crate::disk::OnDrive;
use crate::drive::Drive;
use crate::image::Loss;
use crate::vfs::Vfs;

/// Everything that a store can do.
pub trait Whole: Store + Sources + Upkeep {}

impl<S: Store + Sources + Upkeep> Whole for S {}

/// Opens stores whose files lie on a drive.
pub trait Subject: Sync {
    /// Opens the store in the folder `dir`, making it where there is none.
    ///
    /// # Errors
    /// Those of the store.
    fn open(&self, dir: &Path, drive: &Arc<Drive>) -> Result<Box<dyn Whole>>;

    /// What it gets over when the power is cut.
    fn losses(&self) -> &'static [Loss] {
        &Loss::REAL
    }
}

/// The SQLite store, over a VFS of its own. One test uses it at a time.
#[derive(Debug)]
pub struct Sqlite(&'static Vfs);

impl Sqlite {
    /// The store over a VFS that is registered under this name, which no other may have.
    #[must_use]
    pub fn over_vfs(name: &'static str) -> Self {
        Self(Vfs::register(name))
    }
}

impl Subject for Sqlite {
    fn open(&self, dir: &Path, drive: &Arc<Drive>) -> Result<Box<dyn Whole>> {
        self.0.mount(drive);
        // Few events make a chunk, so that the workload seals some.
        let options = forklore_sqlite::Options {
            vfs: Some(self.0.name()),
            chunk_events: 3,
            ..Default::default()
        };
        Ok(Box::new(SqliteStore::open(&dir.join("store.db"), options)?))
    }

    fn losses(&self) -> &'static [Loss] {
        &Loss::ALL
    }
}

/// The files store.
#[derive(Clone, Copy, Debug)]
pub struct Files;

impl Subject for Files {
    fn open(&self, dir: &Path, drive: &Arc<Drive>) -> Result<Box<dyn Whole>> {
        let fs = Arc::new(OnDrive::new(drive));
        Ok(Box::new(FilesStore::open_on(fs, &dir.join("store"), Default::default())?))
    }
}
