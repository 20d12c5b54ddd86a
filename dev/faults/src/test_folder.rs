//! Directories for stores that are to be broken.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::kind::{Kind, Opened};

/// A directory of its own with a store in it. If a test needs no real disk, the directory is in
/// memory, where a sync costs nothing: a kill only loses what the process has not yet handed to the
/// kernel.
#[derive(Debug)]
pub struct TestFolder {
    dir: TempDir,
    kind: Kind,
}

impl TestFolder {
    /// Creates an empty directory, in `/dev/shm` if the machine has it.
    ///
    /// # Panics
    /// If no directory can be created.
    #[must_use]
    pub fn in_memory(kind: Kind) -> Self {
        let dir = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        Self { dir: dir.expect("a temporary folder"), kind }
    }

    /// Creates an empty directory below `folder`.
    ///
    /// # Panics
    /// If no directory can be created there.
    #[must_use]
    pub fn below(kind: Kind, folder: &Path) -> Self {
        Self { dir: tempfile::tempdir_in(folder).expect("a temporary folder"), kind }
    }

    /// Returns the directory of the store. The first opening creates it.
    #[must_use]
    pub fn store_dir(&self) -> PathBuf {
        self.dir.path().join("store")
    }

    /// Returns a directory for other files.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Returns the kind of the store.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Opens the store.
    ///
    /// # Panics
    /// If it cannot be opened.
    #[must_use]
    pub fn open(&self) -> Opened {
        let opened = self.kind.open(&self.store_dir());
        opened.unwrap_or_else(|error| panic!("the store does not open: {error}"))
    }
}
