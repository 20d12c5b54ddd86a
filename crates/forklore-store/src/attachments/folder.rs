//! Stores attachments as files in a folder, for every store on disk.
//!
//! The attachment `sha256:abcd...` is the file `ab/cd...`. A put writes the file under a temporary
//! name, syncs it, and only then gives it the name `ab/cd...`. No reader therefore ever finds a
//! partial file. A pin takes a shared lock on the file and changes its modification time. A sweep
//! removes a file only if it gets an exclusive lock and the modification time is still the one that
//! was listed.

mod file;
mod put;
mod sweep;

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use forklore_core::AttachmentId;

use self::file::version;
use super::{Attachment, Attachments, Pin, Swept};
use crate::disk::fs::{Disk, FromStart, Fs};
use crate::disk::{folder_of, os};
use crate::error::{Error, Result};

/// The prefix of the names of attachment files that are still being written.
const UNFINISHED: &str = "new-";

/// Storage for attachments in a folder.
#[derive(Debug)]
pub struct AttachmentFolder {
    fs: Arc<dyn Fs>,
    root: PathBuf,
    read_only: bool,
    poisoned: OnceLock<String>,
}

impl AttachmentFolder {
    /// Returns the attachment storage in the folder at `root`, without accessing the disk. The
    /// first `put` creates the folder.
    #[must_use]
    pub fn at(root: PathBuf, read_only: bool) -> Self {
        Self::on(Arc::new(Disk), root, read_only)
    }

    /// Returns the attachment storage in the folder at `root` of the file system `fs`, for tests.
    #[must_use]
    pub fn on(fs: Arc<dyn Fs>, root: PathBuf, read_only: bool) -> Self {
        Self { fs, root, read_only, poisoned: OnceLock::new() }
    }

    /// Returns the path of the folder, which may not exist yet.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.root
    }

    /// Returns the folder that contains the file of the attachment `id`, and the path of that file.
    fn paths(&self, id: &AttachmentId) -> (PathBuf, PathBuf) {
        let hex = id.hex();
        let (first, rest) = hex.split_at(2);
        let folder = self.root.join(first);
        let path = folder.join(rest);
        (folder, path)
    }

    fn check_writable(&self) -> Result<()> {
        if self.read_only {
            let path = self.root.display();
            return Err(Error::Denied(format!("{path} was opened for reading only")));
        }
        self.poisoned.get().map_or(Ok(()), |failure| Err(self.poison(failure.clone())))
    }

    fn poison(&self, failure: String) -> Error {
        Error::Poisoned { location: self.root.display().to_string(), failure }
    }

    /// Handles the result of a sync of `path`. A failed sync poisons the storage: it accepts no
    /// more writes, because a later sync may succeed without having written the data.
    fn synced(&self, path: &Path, synced: io::Result<()>) -> Result<()> {
        synced.map_err(|error| {
            let failure = format!("{}: {error}", path.display());
            let _ = self.poisoned.set(failure.clone());
            self.poison(failure)
        })
    }

    /// Syncs a folder, which makes the names of the files in it durable.
    fn sync_names(&self, folder: &Path) -> Result<()> {
        self.synced(folder, self.fs.sync_dir(folder))
    }

    /// Makes the names of the files in `folder` durable, and also the names of `folder` and of the
    /// root folder. The process that created these folders may have been killed before it synced
    /// them.
    fn sync_way_to(&self, folder: &Path) -> Result<()> {
        [folder, &self.root, folder_of(&self.root)]
            .into_iter()
            .try_for_each(|folder| self.sync_names(folder))
    }
}

impl Attachments for AttachmentFolder {
    fn put(&self, bytes: &mut dyn Read, limit: u64) -> Result<Pin> {
        self.put_file(bytes, limit)
    }

    fn pin(&self, id: &AttachmentId) -> Result<Option<Pin>> {
        self.check_writable()?;
        let Some(file) = self.lock_shared(id)? else { return Ok(None) };
        let (folder, path) = self.paths(id);
        self.sync_way_to(&folder)?;
        let bytes = file.metadata().map_err(os("looking at", &path))?.len();
        Ok(Some(Pin::new(*id, bytes, false, file)))
    }

    fn open(&self, id: &AttachmentId) -> Result<Option<Box<dyn Read + Send>>> {
        let (_, path) = self.paths(id);
        let file = self.open_file(id, &path)?;
        Ok(file.map(|file| Box::new(FromStart::of(file)) as Box<dyn Read + Send>))
    }

    fn find(&self, id: &AttachmentId) -> Result<Option<Attachment>> {
        let (_, path) = self.paths(id);
        let Some(file) = self.open_file(id, &path)? else { return Ok(None) };
        let found = file.metadata().map_err(os("looking at", &path))?;
        let version = version(&found);
        Ok(Some(Attachment { id: *id, bytes: found.len(), version, pinned: false }))
    }

    fn list(&self) -> Result<Vec<Attachment>> {
        self.list_files()
    }

    fn sweep(&self, unneeded: &[Attachment]) -> Result<Swept> {
        self.sweep_files(unneeded)
    }
}
