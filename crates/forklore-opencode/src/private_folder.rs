//! Temporary folders that only their owner can look into. If a killed process leaves a folder, the
//! next process removes the folder.

use std::fs::{self, DirBuilder, File, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use tempfile::{Builder, TempDir};

/// The permissions of a folder that only its owner can look into.
const PRIVATE: u32 = 0o700;
/// The name of a file in each folder. The process that uses the folder has a lock on this file. The
/// operating system releases the lock when the process ends, however it ends.
const LOCKED: &str = "locked";

/// A temporary folder that only its owner can look into. Dropping this value removes the folder. If
/// the process is killed before that, the next [`PrivateFolder::new`] of the same user removes it.
#[derive(Debug)]
pub(crate) struct PrivateFolder {
    folder: TempDir,
    _locked: File,
}

impl PrivateFolder {
    /// Creates a folder. First removes the folders that killed processes of the same user left.
    pub(crate) fn new() -> io::Result<Self> {
        let user = rustix::process::geteuid();
        let all = std::env::temp_dir().join(format!("forklore-copies-{}", user.as_raw()));
        if is_own(&all, user.as_raw())? {
            return Self::within(&all);
        }
        // Somebody else made a folder with that name, so a private folder with a random name is
        // used. Other processes of this user cannot find and remove it if this process is killed.
        let folder = Builder::new().permissions(Permissions::from_mode(PRIVATE)).tempdir()?;
        Self::hold(folder)
    }

    /// Creates a folder in the private folder `all`. First removes the folders in `all` that no
    /// living process has locked.
    fn within(all: &Path) -> io::Result<Self> {
        // A folder exists for a moment before its process locks it. While this lock is held, no
        // other process can mistake such a folder for one that a killed process left.
        let lock = File::open(all)?;
        lock.lock()?;
        for left in left_behind(all)? {
            // A folder that cannot be removed must not prevent an import.
            let _ = fs::remove_dir_all(left);
        }
        let private = Permissions::from_mode(PRIVATE);
        Self::hold(Builder::new().permissions(private).tempdir_in(all)?)
    }

    fn hold(folder: TempDir) -> io::Result<Self> {
        let locked = folder.path().join(LOCKED);
        let locked = File::options().write(true).create_new(true).mode(0o600).open(locked)?;
        locked.lock()?;
        Ok(Self { folder, _locked: locked })
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Creates the folder at `path` unless it exists, and makes it private. Returns false, and changes
/// nothing, if something else is at `path` or the folder belongs to another user than `user`.
fn is_own(path: &Path, user: u32) -> io::Result<bool> {
    match DirBuilder::new().mode(PRIVATE).create(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let found = fs::symlink_metadata(path)?;
    if !found.is_dir() || found.uid() != user {
        return Ok(false);
    }
    if found.mode() & 0o777 != PRIVATE {
        fs::set_permissions(path, Permissions::from_mode(PRIVATE))?;
    }
    Ok(true)
}

/// Returns the paths of the folders in `all` that no living process has locked.
fn left_behind(all: &Path) -> io::Result<Vec<PathBuf>> {
    let mut left = Vec::new();
    for entry in fs::read_dir(all)? {
        let path = entry?.path();
        let is_locked = match File::open(path.join(LOCKED)) {
            Ok(locked) => locked.try_lock().is_err(),
            Err(error) => error.kind() != io::ErrorKind::NotFound,
        };
        if !is_locked {
            left.push(path);
        }
    }
    Ok(left)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a broken expectation ends a test")]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<PathBuf> {
        let mut names: Vec<_> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        names.sort();
        names
    }

    /// Leaves a folder behind as a killed process does: the folder remains, the lock goes.
    fn kill(folder: PrivateFolder) -> PathBuf {
        let PrivateFolder { folder, _locked } = folder;
        let path = folder.keep();
        fs::write(path.join("copy.db"), "private").unwrap();
        path
    }

    #[test]
    fn a_killed_process_leaves_its_folder_to_the_next_one() {
        let all = tempfile::tempdir().unwrap();
        let living = PrivateFolder::within(all.path()).unwrap();
        let left = kill(PrivateFolder::within(all.path()).unwrap());
        assert!(left.exists());
        // A process may also be killed before it holds its folder.
        let early = all.path().join("early");
        fs::create_dir(&early).unwrap();
        let next = PrivateFolder::within(all.path()).unwrap();
        let mut locked = [living.path().to_owned(), next.path().to_owned()];
        locked.sort();
        assert_eq!(names(all.path()), locked);
        drop((living, next));
        assert!(names(all.path()).is_empty());
    }

    #[test]
    fn a_folder_of_somebody_else_is_not_used() {
        let dir = tempfile::tempdir().unwrap();
        let user = rustix::process::geteuid().as_raw();
        let path = dir.path().join("copies");
        assert!(is_own(&path, user).unwrap());
        assert_eq!(path.metadata().unwrap().mode() & 0o777, PRIVATE);
        fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        assert!(is_own(&path, user).unwrap());
        assert_eq!(path.metadata().unwrap().mode() & 0o777, PRIVATE);
        assert!(!is_own(&path, user + 1).unwrap());
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert!(!is_own(&link, user).unwrap());
    }
}
