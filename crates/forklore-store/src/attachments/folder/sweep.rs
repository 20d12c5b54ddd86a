//! Lists attachments, and removes those that are not needed.

use std::collections::BTreeSet;
use std::fs::TryLockError;
use std::io;
use std::path::Path;

use forklore_core::AttachmentId;

use super::file::{is_at, is_nothing, version};
use super::{Attachment, AttachmentFolder, Swept, UNFINISHED};
use crate::disk::fs::{File, Open};
use crate::disk::os;
use crate::error::Result;

impl AttachmentFolder {
    pub(super) fn list_files(&self) -> Result<Vec<Attachment>> {
        let mut found = Vec::new();
        for first in self.names(&self.root)?.into_iter().filter(|name| name.len() == 2) {
            let folder = self.root.join(&first);
            for rest in self.names(&folder)? {
                if let Ok(id) = AttachmentId::from_hex(&format!("{first}{rest}")) {
                    let path = folder.join(&rest);
                    found.extend(self.look_at(id, &path).map_err(os("looking at", &path))?);
                }
            }
        }
        found.sort_unstable_by_key(|attachment| attachment.id);
        Ok(found)
    }

    pub(super) fn sweep_files(&self, unneeded: &[Attachment]) -> Result<Swept> {
        self.check_writable()?;
        let mut swept = Swept { attachments: 0, bytes: self.remove_unfinished()? };
        let mut folders = BTreeSet::new();
        for attachment in unneeded {
            let (folder, path) = self.paths(&attachment.id);
            let expected = Some(attachment.version);
            if let Some(bytes) = self.remove(&path, expected).map_err(os("removing", &path))? {
                swept.attachments += 1;
                swept.bytes += bytes;
                folders.insert(folder);
            }
        }
        folders.iter().try_for_each(|folder| self.sync_names(folder))?;
        Ok(swept)
    }

    /// Removes the temporary files of attachments whose write was interrupted. Returns the number
    /// of bytes freed.
    fn remove_unfinished(&self) -> Result<u64> {
        let mut bytes = 0;
        for name in self.names(&self.root)?.iter().filter(|name| name.starts_with(UNFINISHED)) {
            let path = self.root.join(name);
            bytes += self.remove(&path, None).map_err(os("removing", &path))?.unwrap_or(0);
        }
        Ok(bytes)
    }

    /// Returns the names of the files in a folder; an empty list if the folder does not exist.
    fn names(&self, folder: &Path) -> Result<Vec<String>> {
        match self.fs.names(folder) {
            Err(error) if is_nothing(&error) => Ok(Vec::new()),
            names => names.map_err(os("reading the folder", folder)),
        }
    }

    /// Returns the metadata of the attachment `id`, whose file is at `path`. Returns `None` if
    /// `path` is not a regular file.
    fn look_at(&self, id: AttachmentId, path: &Path) -> io::Result<Option<Attachment>> {
        let Some(file) = self.open_there(path)? else { return Ok(None) };
        let found = file.metadata()?;
        let pinned = is_pinned(&*file)?;
        Ok(Some(Attachment { id, bytes: found.len(), version: version(&found), pinned }))
    }

    /// Removes the file at `path` if it is not locked and has the version `expected` (its inode and
    /// modification time). If `expected` is `None`, any version is removed. Returns the number of
    /// bytes freed, or `None` if the file was not removed.
    fn remove(&self, path: &Path, expected: Option<u128>) -> io::Result<Option<u64>> {
        let Some(file) = self.open_there(path)? else { return Ok(None) };
        let pinned = is_pinned(&*file)?;
        let found = file.metadata()?;
        let same = expected.is_none_or(|expected| version(&found) == expected);
        if pinned || !same || !is_at(&*file, path)? {
            return Ok(None);
        }
        self.fs.remove(path)?;
        Ok(Some(found.len()))
    }

    /// Opens the regular file at `path`; `None` if the path does not exist or is not a regular
    /// file.
    fn open_there(&self, path: &Path) -> io::Result<Option<Box<dyn File>>> {
        let opened = path.symlink_metadata().and_then(|found| match found.is_file() {
            true => self.fs.open(path, Open::Read).map(Some),
            false => Ok(None),
        });
        match opened {
            Err(error) if is_nothing(&error) => Ok(None),
            opened => opened,
        }
    }
}

/// Checks whether another handle has locked the file. If none has, this call locks the file
/// exclusively until it is closed.
fn is_pinned(file: &dyn File) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(error)) => Err(error),
    }
}
