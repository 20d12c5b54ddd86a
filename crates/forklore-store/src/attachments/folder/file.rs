//! Opens and locks the file of an attachment, and detects that its modification time has changed.

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

use forklore_core::AttachmentId;
use rustix::io::Errno;

use super::AttachmentFolder;
use crate::attachments::checked::damage;
use crate::disk::fs::{File, Open};
use crate::disk::os;
use crate::error::Result;

/// The coarsest resolution of modification times that a file system is expected to have.
const COARSE: Duration = Duration::from_secs(2);

/// Checks whether the error means that no file has the requested path.
pub(super) fn is_nothing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Returns the version of a file: a number that changes with each `touch` (change of the
/// modification time). Two existing files never have the same version.
pub(super) fn version(found: &Metadata) -> u128 {
    let changed = i128::from(found.mtime()) * 1_000_000_000 + i128::from(found.mtime_nsec());
    u128::from(found.ino()) << 64 | (changed.cast_unsigned() & u128::from(u64::MAX))
}

/// Checks whether the file that `file` has open is still the one at `path`, and was not replaced or
/// removed.
pub(super) fn is_at(file: &dyn File, path: &Path) -> io::Result<bool> {
    let here = file.metadata()?;
    match std::fs::symlink_metadata(path) {
        Ok(there) => Ok((there.dev(), there.ino()) == (here.dev(), here.ino())),
        Err(error) if is_nothing(&error) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Sets the modification time of the file to now, or to a later time if the file already has the
/// current time.
pub(super) fn touch(file: &dyn File) -> io::Result<()> {
    let was = file.metadata()?.modified()?;
    file.set_modified(SystemTime::now())?;
    if file.metadata()?.modified()? == was {
        file.set_modified(was + COARSE)?;
    }
    Ok(())
}

impl AttachmentFolder {
    /// Opens the file of the attachment `id` at `path`; `None` if no file has this path. Another
    /// user may have replaced the file by a link or a pipe. The method does not follow links, does
    /// not block on a pipe, and returns `Corrupt` for both.
    pub(super) fn open_file(
        &self,
        id: &AttachmentId,
        path: &Path,
    ) -> Result<Option<Box<dyn File>>> {
        match self.fs.open(path, Open::Read) {
            Ok(file) => Ok(Some(file)),
            Err(error) if Errno::from_io_error(&error) == Some(Errno::LOOP) => {
                Err(damage(id, "there is a link in its place"))
            }
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                Err(damage(id, "there is no file in its place"))
            }
            Err(error) if is_nothing(&error) => Ok(None),
            Err(error) => Err(os("opening", path)(error)),
        }
    }

    /// Opens the file of an attachment, locks it with a shared lock, and updates its modification
    /// time. The lock lasts until the file is closed and prevents sweeps from removing the file.
    /// Returns `None` if the file does not exist.
    pub(super) fn lock_shared(&self, id: &AttachmentId) -> Result<Option<Box<dyn File>>> {
        let (_, path) = self.paths(id);
        loop {
            let Some(file) = self.open_file(id, &path)? else { return Ok(None) };
            let locked = file.lock_shared().and_then(|()| is_at(&*file, &path));
            if locked.map_err(os("locking", &path))? {
                touch(&*file).map_err(os("touching", &path))?;
                return Ok(Some(file));
            }
        }
    }
}
