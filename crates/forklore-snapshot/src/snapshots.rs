//! The repository of the snapshots.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use crate::git::Git;
use crate::{Error, Result, Shared, SnapshotId, objects};

/// A repository of snapshots of any number of workspaces. Several processes may use it at once.
#[derive(Debug)]
pub struct Snapshots {
    git: Git,
}

/// A workspace that no other process takes a snapshot of or restores.
#[derive(Debug)]
pub(crate) struct Locked {
    path: PathBuf,
    /// Its lock ends when the file is closed.
    _file: File,
    /// No other process removes snapshots.
    _shared: Shared,
}

impl Locked {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Snapshots {
    /// Returns the repository in a folder. The first snapshot creates it.
    #[must_use]
    pub fn at(folder: &Path) -> Self {
        Self { git: Git::of(folder) }
    }

    /// Opens the repository in a folder, and creates it if it does not exist.
    ///
    /// # Errors
    /// If `git` is missing or the folder cannot be created.
    pub fn open(folder: &Path) -> Result<Self> {
        let snapshots = Self::at(folder);
        snapshots.create()?;
        Ok(snapshots)
    }

    /// Creates the repository if it does not exist.
    ///
    /// # Errors
    /// If `git` is missing or the folder cannot be created.
    pub fn create(&self) -> Result<()> {
        self.git.create()?;
        let own = self.git.folder().join("workspaces");
        fs::create_dir_all(&own).map_err(Error::file("create", &own))
    }

    /// Returns a name for a workspace that no other one has: hexadecimal digits.
    ///
    /// # Errors
    /// If the workspace does not exist.
    pub fn key_of(&self, workspace: &Path) -> Result<String> {
        let path = workspace.canonicalize().map_err(Error::file("open", workspace))?;
        Ok(key(&path))
    }

    pub(crate) fn git(&self) -> &Git {
        &self.git
    }

    /// Returns whether there is a snapshot with this id.
    #[must_use]
    pub fn has(&self, id: SnapshotId) -> bool {
        objects::has(&self.git, id)
    }

    /// Waits until no other process works on a workspace.
    pub(crate) fn lock(&self, workspace: &Path) -> Result<Locked> {
        let path = workspace.canonicalize().map_err(Error::file("open", workspace))?;
        let shared = self.share()?;
        let name = self.file_of(&path, "lock");
        let file = File::create(&name).map_err(Error::file("open", &name))?;
        file.lock().map_err(Error::file("lock", &name))?;
        Ok(Locked { path, _file: file, _shared: shared })
    }

    pub(crate) fn index_of(&self, workspace: &Path) -> PathBuf {
        self.file_of(workspace, "index")
    }

    pub(crate) fn journal_of(&self, workspace: &Path) -> PathBuf {
        self.file_of(workspace, "restore")
    }

    /// Returns the file of a kind that belongs to a workspace.
    fn file_of(&self, workspace: &Path, kind: &str) -> PathBuf {
        self.git.folder().join("workspaces").join(format!("{}.{kind}", key(workspace)))
    }
}

fn key(path: &Path) -> String {
    blake3::hash(path.as_os_str().as_encoded_bytes()).to_hex().to_string()
}
