//! A store in a temporary directory.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use forklore_conformance::Handle;
use forklore_files::{FilesStore, Options};
use tempfile::TempDir;

pub(crate) struct Scratch {
    dir: TempDir,
}

impl Scratch {
    pub(crate) fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.dir.path().join("store")
    }

    pub(crate) fn open(&self) -> Arc<FilesStore> {
        Arc::new(FilesStore::open(&self.root(), Options::default()).unwrap())
    }

    /// Returns the path of a session's file, in the workspace that all sessions of a scene have.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.root().join("workspaces/demo-3152370b54f6").join(format!("{name}.jsonl"))
    }

    /// Returns the path and content of every file in the store's folder, sorted by path.
    pub(crate) fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut files = Vec::new();
        collect(&self.root(), &mut files);
        files.sort();
        files
    }
}

fn collect(folder: &Path, into: &mut Vec<(PathBuf, Vec<u8>)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, into);
        } else {
            let bytes = std::fs::read(&path).unwrap();
            into.push((path, bytes));
        }
    }
}

/// Returns a handle with which a scene uses the store.
pub(crate) fn handle(store: &Arc<FilesStore>) -> Handle {
    Handle::shared(store.clone())
}
