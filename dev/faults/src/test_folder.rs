//! Temporary directories for stores under test.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::kind::{Kind, Opened};

/// A temporary directory for a store under test. If a test needs no real disk, the directory is in
/// memory, where a sync costs nothing. That suffices for tests that kill processes: a kill only
/// loses data that the process has not yet passed to the kernel.
#[derive(Debug)]
pub struct TestFolder {
    dir: TempDir,
    kind: Kind,
}

impl TestFolder {
    /// Creates an empty directory, in memory (`/dev/shm`) if the machine has it.
    ///
    /// # Panics
    /// If no directory can be created.
    #[must_use]
    pub fn in_memory(kind: Kind) -> Self {
        let dir = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        Self { dir: dir.expect("a temporary folder"), kind }
    }

    /// Creates an empty directory inside the directory `folder`.
    ///
    /// # Panics
    /// If no directory can be created there.
    #[must_use]
    pub fn below(kind: Kind, folder: &Path) -> Self {
        Self { dir: tempfile::tempdir_in(folder).expect("a temporary folder"), kind }
    }

    /// Returns the path of the store's directory, which the first [`Self::open`] creates.
    #[must_use]
    pub fn store_dir(&self) -> PathBuf {
        self.dir.path().join("store")
    }

    /// Returns the temporary directory. It may contain other files in addition to the store.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Returns the kind of the store in this directory.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Opens the store in this directory, and creates it if it does not exist.
    ///
    /// # Panics
    /// If the store cannot be opened.
    #[must_use]
    pub fn open(&self) -> Opened {
        let opened = self.kind.open(&self.store_dir());
        opened.unwrap_or_else(|error| panic!("the store does not open: {error}"))
    }
}
