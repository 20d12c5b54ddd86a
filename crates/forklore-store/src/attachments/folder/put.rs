//! Writing an attachment: under another name until it is complete and durable.

use std::fs::TryLockError;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use forklore_core::AttachmentId;
use sha2::{Digest, Sha256};

use super::file::is_at;
use super::{AttachmentFolder, UNFINISHED};
use crate::attachments::checked::{Checked, digest};
use crate::attachments::{BUFFER, Pin};
use crate::disk::fs::{File, FromStart, Fs, Open, write_all_at};
use crate::disk::{self, os};
use crate::error::{Error, Result};

/// The number in the name of the next file that this process writes.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// How long to wait for the locks on a damaged file, and the interval between attempts.
const PATIENCE: Duration = Duration::from_secs(5);
const AGAIN: Duration = Duration::from_millis(5);

impl AttachmentFolder {
    pub(super) fn put_file(&self, bytes: &mut dyn Read, limit: u64) -> Result<Pin> {
        self.check_writable()?;
        self.make_root()?;
        let new = self.begin()?;
        let (id, len) = new.fill(bytes, limit)?;
        self.synced(&new.path, new.file.sync())?;
        let (folder, path) = self.paths(&id);
        self.make_folder(&folder)?;
        let (file, is_new) = self.publish(&new, &id, &path)?;
        self.sync_way_to(&folder)?;
        Ok(Pin::new(id, len, is_new, file))
    }

    fn make_root(&self) -> Result<()> {
        self.make_folder(&self.root)?;
        let found = self.root.symlink_metadata().map_err(os("opening", &self.root))?;
        if !found.is_dir() {
            return Err(Error::Unsupported(format!("{} is no folder", self.root.display())));
        }
        disk::refuse_others(&self.root, &found)
    }

    fn make_folder(&self, folder: &Path) -> Result<()> {
        self.fs.make_dir(folder).map_err(os("making the folder", folder))
    }

    /// Creates and locks a new file, under a name that no attachment has.
    fn begin(&self) -> Result<Unfinished<'_>> {
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = self.root.join(format!("{UNFINISHED}{}-{number}", std::process::id()));
            let file = match self.fs.open(&path, Open::Create) {
                Ok(file) => file,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(os("making", &path)(error)),
            };
            let new = Unfinished { fs: &*self.fs, file: file.into(), path };
            let locked = new.file.lock_shared().and_then(|()| is_at(&*new.file, &new.path));
            // A sweep may have removed it before it was locked.
            if locked.map_err(os("locking", &new.path))? {
                return Ok(new);
            }
        }
    }

    /// Gives the bytes their name, or finds that they already exist. Returns the locked file that
    /// has the name, and whether it is the new one.
    fn publish(
        &self,
        new: &Unfinished<'_>,
        id: &AttachmentId,
        path: &Path,
    ) -> Result<(Arc<dyn File>, bool)> {
        loop {
            match self.fs.link(&new.path, path) {
                Ok(()) => return Ok((new.file.clone(), true)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                // Not every file system supports links. Two puts of the same bytes then leave the
                // file of either one.
                Err(_) if !path.exists() => {
                    self.fs.rename(&new.path, path).map_err(os("naming", path))?;
                    return Ok((new.file.clone(), true));
                }
                Err(error) => return Err(os("naming", path)(error)),
            }
            let Some(there) = self.lock_shared(id)? else { continue };
            if is_sound(&*there, id).map_err(os("reading", path))? {
                return Ok((there.into(), false));
            }
            if replace(&*there, new, path)? {
                return Ok((new.file.clone(), true));
            }
        }
    }
}

fn is_sound(file: &dyn File, id: &AttachmentId) -> io::Result<bool> {
    let (mut checked, mut buffer) = (Checked::new(*id, FromStart::of(file)), vec![0; BUFFER]);
    loop {
        match checked.read(&mut buffer) {
            Ok(0) => return Ok(true),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::InvalidData => return Ok(false),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Replaces a damaged file by a complete one. Returns false if another writer replaced it first.
fn replace(damaged: &dyn File, new: &Unfinished<'_>, path: &Path) -> Result<bool> {
    // The lock is released in between: two writers that both waited for an exclusive lock, each
    // with a shared one, would deadlock.
    let failed = |error| os("replacing", path)(error);
    damaged.unlock().map_err(failed)?;
    let begun = Instant::now();
    loop {
        match damaged.try_lock() {
            Ok(()) => break,
            Err(TryLockError::WouldBlock) if begun.elapsed() < PATIENCE => {
                std::thread::sleep(AGAIN);
            }
            Err(TryLockError::WouldBlock) => {
                let path = path.display();
                return Err(Error::Locked(format!("{path} is damaged, and somebody holds it")));
            }
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
    }
    let stands = is_at(damaged, path).map_err(failed)?;
    if stands {
        new.fs.rename(&new.path, path).map_err(failed)?;
    }
    Ok(stands)
}

/// A file that is being written; dropping this value removes it. It is locked from the beginning,
/// which tells a sweep that its writer was not killed.
struct Unfinished<'a> {
    fs: &'a dyn Fs,
    file: Arc<dyn File>,
    path: PathBuf,
}

impl Unfinished<'_> {
    /// Writes everything that `bytes` returns. Returns its name and length.
    fn fill(&self, bytes: &mut dyn Read, limit: u64) -> Result<(AttachmentId, u64)> {
        let (mut hash, mut buffer, mut len) = (Sha256::new(), vec![0; BUFFER], 0_u64);
        loop {
            let read = match bytes.read(&mut buffer) {
                Ok(0) => return Ok((digest(&hash), len)),
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(Error::io("reading what to attach", error)),
            };
            let at = len;
            len += read as u64;
            if len > limit {
                return Err(Error::too_long(limit));
            }
            let read = buffer.get(..read).unwrap_or_default();
            hash.update(read);
            write_all_at(&*self.file, read, at).map_err(os("writing", &self.path))?;
        }
    }
}

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        let _ = self.fs.remove(&self.path);
    }
}
