//! A store in a directory of its own.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use forklore_sqlite::{Options, SqliteStore};
use forklore_store::conformance::Handle;
use tempfile::TempDir;

pub struct Place {
    dir: TempDir,
}

impl Place {
    pub fn new() -> Self {
        Self {
            dir: tempfile::tempdir().unwrap(),
        }
    }

    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    pub fn file(&self) -> PathBuf {
        self.dir.path().join("store.db")
    }

    pub fn open(&self) -> Arc<SqliteStore> {
        Arc::new(SqliteStore::open(&self.file(), Options::default()).unwrap())
    }

    /// The file as any other tool sees it.
    pub fn sqlite(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.file()).unwrap()
    }
}

/// The store, for a scene.
pub fn handle(store: &Arc<SqliteStore>) -> Handle {
    Handle {
        store: store.clone(),
        upkeep: Some(store.clone()),
    }
}
