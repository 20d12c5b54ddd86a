//! Folders for stores that are to be broken.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::kind::{Kind, Opened};

/// A folder of its own with a store in it. What needs no real disk lies in memory, where a sync
/// costs nothing: a kill takes from a process what it has not yet handed to the kernel, and
/// nothing else.
#[derive(Debug)]
pub struct TestFolder {
    dir: TempDir,
    kind: Kind,
}

impl TestFolder {
    /// An empty one, in memory where the machine has a place there.
    ///
    /// # Panics
    /// When no folder can be made.
    #[must_use]
    pub fn in_memory(kind: Kind) -> Self {
        let dir = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        Self { dir: dir.expect("a temporary folder"), kind }
    }

    /// An empty one below `folder`.
    ///
    /// # Panics
    /// When no folder can be made there.
    #[must_use]
    pub fn below(kind: Kind, folder: &Path) -> Self {
        Self { dir: tempfile::tempdir_in(folder).expect("a temporary folder"), kind }
    }

    /// The folder of the store, which is made with its first opening.
    #[must_use]
    pub fn store_dir(&self) -> PathBuf {
        self.dir.path().join("store")
    }

    /// A folder for other files.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Which store it is.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Opens the store.
    ///
    /// # Panics
    /// When it cannot be opened.
    #[must_use]
    pub fn open(&self) -> Opened {
        let opened = self.kind.open(&self.store_dir());
        opened.unwrap_or_else(|error| panic!("the store does not open: {error}"))
    }
}
