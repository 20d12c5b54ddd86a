//! Writes an attachment to a file with a temporary name. The file gets its final name when it is
//! complete and durable.

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

/// The number in the temporary name of the next file that this process writes.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// The longest time to wait for an exclusive lock on a damaged file. `AGAIN` is the interval
/// between attempts.
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

    /// Creates and locks a new file, with a temporary name that no attachment has.
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
            // A sweep may have removed the file before it was locked.
            if locked.map_err(os("locking", &new.path))? {
                return Ok(new);
            }
        }
    }

    /// Gives the new file the path of the attachment `id`, unless an undamaged file already has
    /// this path. Returns the locked file at this path, and whether it is the new file.
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
                // Some file systems do not support hard links. If two puts of the same bytes race
                // there, the last rename wins, and both files are equal.
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

/// Replaces the damaged file at `path` by the new file. Returns false if another writer replaced
/// the damaged file first.
fn replace(damaged: &dyn File, new: &Unfinished<'_>, path: &Path) -> Result<bool> {
    // Release the shared lock before waiting for the exclusive one. Two writers that each have a
    // shared lock and wait for an exclusive one would deadlock.
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

/// A file that is being written, under its temporary name. Dropping this value removes that name.
/// The file is locked from the beginning; the lock shows a sweep that the writer still runs.
struct Unfinished<'a> {
    fs: &'a dyn Fs,
    file: Arc<dyn File>,
    path: PathBuf,
}

impl Unfinished<'_> {
    /// Copies all bytes of the reader `bytes` into the file. Returns the attachment's name and its
    /// length in bytes. Fails if there are more than `limit` bytes.
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
