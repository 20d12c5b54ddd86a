//! A store in a temporary directory.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use forklore_conformance::Handle;
use forklore_sqlite::{Options, SqliteStore};
use tempfile::TempDir;

pub(crate) struct Scratch {
    dir: TempDir,
}

impl Scratch {
    pub(crate) fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn dir(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.dir.path().join("store.db")
    }

    pub(crate) fn open(&self) -> Arc<SqliteStore> {
        self.open_with(Options::default())
    }

    pub(crate) fn open_with(&self, options: Options) -> Arc<SqliteStore> {
        Arc::new(SqliteStore::open(&self.file(), options).unwrap())
    }

    /// Opens the store's file directly with SQLite, as any other program can.
    pub(crate) fn sqlite(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.file()).unwrap()
    }
}

/// Returns a handle with which a scene uses the store.
pub(crate) fn handle(store: &Arc<SqliteStore>) -> Handle {
    Handle::shared(store.clone())
}
