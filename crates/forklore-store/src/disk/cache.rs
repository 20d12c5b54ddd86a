//! The cache folder of a store: a folder for data that was computed from the store and can be
//! computed again, such as an index.

use std::fs::{DirEntry, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Gate, Pass, Passed, check_folder, make_folder, os, with_suffix};
use crate::{Error, Result};

/// The beginning of the names of the folder's two lock files.
const GATE: &str = "cache";
/// The access rights of the folder. Its files contain what the sessions contain.
const PRIVATE: u32 = 0o700;

/// The folder of a store for data that can be computed again from the store. Nothing in it is worth
/// a backup, and a store without it is complete.
#[derive(Clone, Debug)]
pub struct CacheFolder {
    path: PathBuf,
    gate: Gate,
}

impl CacheFolder {
    /// Returns the cache folder at `path`, which need not exist. Creates nothing.
    #[must_use]
    pub fn at(path: PathBuf) -> Self {
        let gate = Gate::new(&path.join(GATE));
        Self { path, gate }
    }

    /// Returns the path of the folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Creates the folder if it does not exist, and locks it: [`Pass::Shared`] to use its files,
    /// [`Pass::Exclusive`] to remove some. Only the owner can access the folder. Waits for the lock
    /// at most for `wait`.
    ///
    /// # Errors
    /// `Denied` if the folder belongs to another user or is no folder, or if the operating system
    /// forbids the access; `Locked` if the lock did not become free within `wait`; `Io` if creating
    /// or locking fails for another reason.
    pub fn enter(&self, pass: Pass, wait: Duration) -> Result<Passed> {
        make_folder(&self.path)?;
        let failed = || os("opening the folder", &self.path);
        let found = self.path.symlink_metadata().map_err(failed())?;
        if !found.is_dir() {
            return Err(Error::Denied(format!("{} is no folder", self.path.display())));
        }
        check_folder(&self.path)?;
        if found.permissions().mode() & 0o777 != PRIVATE {
            let private = Permissions::from_mode(PRIVATE);
            std::fs::set_permissions(&self.path, private).map_err(failed())?;
        }
        self.gate.pass(pass, wait)
    }

    /// Removes the folder and its files, and returns the number of bytes that the files had. Waits
    /// at most for `wait` until nobody uses the files. Removes nothing if the folder lacks the lock
    /// file that every cache folder has.
    ///
    /// # Errors
    /// `Locked` if the files are in use for longer than `wait`; `Denied` or `Io` if a file cannot
    /// be removed.
    pub fn remove(&self, wait: Duration) -> Result<u64> {
        let lock = with_suffix(&self.path.join(GATE), "-lock");
        if !lock.symlink_metadata().is_ok_and(|lock| lock.is_file()) {
            return Ok(0);
        }
        let _passed = self.enter(Pass::Exclusive, wait)?;
        let bytes = self.empty(|_| true).map_err(os("removing", &self.path))?;
        match std::fs::remove_dir(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::DirectoryNotEmpty => {
                Err(os("removing", &self.path)(error))
            }
            _ => Ok(bytes),
        }
    }

    /// Removes the files whose names begin with `name`. The caller must have locked the folder with
    /// [`Pass::Exclusive`].
    ///
    /// # Errors
    /// `Denied` or `Io` if a file cannot be removed.
    pub fn remove_files(&self, name: &str) -> Result<()> {
        let begins = |entry: &DirEntry| entry.file_name().to_string_lossy().starts_with(name);
        self.empty(begins).map(drop).map_err(os("removing", &self.path))
    }

    /// Removes the folder's files that `is_wanted` accepts. Returns their size in bytes.
    fn empty(&self, is_wanted: impl Fn(&DirEntry) -> bool) -> io::Result<u64> {
        let mut bytes = 0;
        for entry in std::fs::read_dir(&self.path)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() || !is_wanted(&entry) {
                continue;
            }
            bytes += entry.metadata()?.len();
            std::fs::remove_file(entry.path())?;
        }
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(dir: &tempfile::TempDir) -> CacheFolder {
        CacheFolder::at(dir.path().join("store.db-cache"))
    }

    fn mode(path: &Path) -> u32 {
        path.metadata().unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn only_its_owner_can_access_it() {
        let dir = tempfile::tempdir().unwrap();
        let folder = folder(&dir);
        std::fs::create_dir(folder.path()).unwrap();
        std::fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        drop(folder.enter(Pass::Shared, Duration::ZERO).unwrap());
        assert_eq!(mode(folder.path()), 0o700);
        assert_eq!(mode(&folder.path().join("cache-lock")), 0o600);
    }

    #[test]
    fn it_is_removed_with_its_files_when_nobody_uses_them() {
        let dir = tempfile::tempdir().unwrap();
        let folder = folder(&dir);
        assert_eq!(folder.remove(Duration::ZERO).unwrap(), 0);
        let using = folder.enter(Pass::Shared, Duration::ZERO).unwrap();
        std::fs::write(folder.path().join("graph.db"), "12345").unwrap();
        assert!(matches!(folder.remove(Duration::ZERO), Err(Error::Locked(_))));
        drop(using);
        assert_eq!(folder.remove(Duration::ZERO).unwrap(), 5);
        assert!(!folder.path().exists());
    }

    #[test]
    fn another_folder_of_that_name_stays_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let folder = folder(&dir);
        std::fs::create_dir(folder.path()).unwrap();
        std::fs::write(folder.path().join("photo"), "12345").unwrap();
        assert_eq!(folder.remove(Duration::ZERO).unwrap(), 0);
        assert!(folder.path().join("photo").exists());
        std::fs::remove_dir_all(folder.path()).unwrap();
        std::os::unix::fs::symlink(dir.path(), folder.path()).unwrap();
        assert!(matches!(folder.enter(Pass::Shared, Duration::ZERO), Err(Error::Denied(_))));
    }
}
