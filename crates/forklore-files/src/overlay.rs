//! An in-memory file system on top of another one. A change to several files runs on it as on the
//! real files. The overlay collects the changed content, which is then written to all files
//! together.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use forklore_store::disk::folder_of;

use crate::fs::{File, Fs, Open};

/// How a change to several files changes one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// The first `retain` bytes of the old file remain, and `tail` replaces the bytes after them.
    Content { retain: u64, tail: Vec<u8> },
    /// The change removes the file.
    Gone,
}

/// A file system that collects the changes to files in memory. It reads unchanged files from the
/// file system `below`.
#[derive(Debug)]
pub(crate) struct Overlay {
    below: Arc<dyn Fs>,
    changed: Mutex<Changes>,
}

/// The changed files: for each folder, the names of its changed files and their changes. The files
/// are grouped by folder, because the changes may concern very many files and those of one folder
/// must be found quickly.
#[derive(Debug, Default)]
struct Changes(BTreeMap<PathBuf, BTreeMap<OsString, Arc<Mutex<Change>>>>);

impl Changes {
    fn get(&self, path: &Path) -> Option<&Arc<Mutex<Change>>> {
        self.of(folder_of(path))?.get(path.file_name()?)
    }

    fn insert(&mut self, path: &Path, change: Arc<Mutex<Change>>) {
        let name = path.file_name().unwrap_or_default().to_owned();
        self.0.entry(folder_of(path).to_owned()).or_default().insert(name, change);
    }

    fn remove(&mut self, path: &Path) -> Option<Arc<Mutex<Change>>> {
        self.0.get_mut(folder_of(path))?.remove(path.file_name()?)
    }

    /// Returns the changed files in a folder, by name. Returns `None` if no file in the folder
    /// changed.
    fn of(&self, folder: &Path) -> Option<&BTreeMap<OsString, Arc<Mutex<Change>>>> {
        self.0.get(folder)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn missing() -> io::Error {
    io::ErrorKind::NotFound.into()
}

impl Overlay {
    pub(crate) fn over(below: Arc<dyn Fs>) -> Self {
        Self { below, changed: Mutex::default() }
    }

    /// Takes all collected changes out of the overlay, ordered by path. The overlay must not be
    /// used afterwards.
    pub(crate) fn take_changes(&self) -> Vec<(PathBuf, Change)> {
        let Changes(folders) = std::mem::take(&mut *lock(&self.changed));
        let applied =
            |change: Arc<Mutex<Change>>| std::mem::replace(&mut *lock(&change), Change::Gone);
        let mut changed = Vec::new();
        for (folder, files) in folders {
            let files = files.into_iter();
            changed.extend(files.map(|(name, change)| (folder.join(name), applied(change))));
        }
        changed.sort_by(|(one, _), (other, _)| one.cmp(other));
        changed
    }

    fn changed(&self, path: &Path) -> Option<Arc<Mutex<Change>>> {
        lock(&self.changed).get(path).cloned()
    }

    fn is_there(&self, path: &Path) -> io::Result<bool> {
        if let Some(change) = self.changed(path) {
            return Ok(*lock(&change) != Change::Gone);
        }
        match self.below.open(path, Open::Read) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn set(&self, path: &Path, change: Change) -> Arc<Mutex<Change>> {
        let change = Arc::new(Mutex::new(change));
        lock(&self.changed).insert(path, change.clone());
        change
    }
}

impl Fs for Overlay {
    fn open(&self, path: &Path, how: Open) -> io::Result<Box<dyn File>> {
        if how == Open::Create {
            if self.is_there(path)? {
                return Err(io::ErrorKind::AlreadyExists.into());
            }
            let change = self.set(path, Change::Content { retain: 0, tail: Vec::new() });
            return Ok(Box::new(Changed { below: None, change }));
        }
        let change = match (self.changed(path), how) {
            (Some(change), _) => change,
            (None, Open::Read) => return self.below.open(path, how),
            (None, _) => {
                let retained = self.below.open(path, Open::Read)?.len()?;
                self.set(path, Change::Content { retain: retained, tail: Vec::new() })
            }
        };
        let retained = match &*lock(&change) {
            Change::Gone => return Err(missing()),
            Change::Content { retain, .. } => *retain,
        };
        let below = if retained > 0 { Some(self.below.open(path, Open::Read)?) } else { None };
        Ok(Box::new(Changed { below, change }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let moved = lock(&self.changed).remove(from);
        match moved {
            Some(change) if *lock(&change) != Change::Gone => {
                lock(&self.changed).insert(to, change);
                Ok(())
            }
            // A change renames only files that it created itself. Any other rename is an error.
            _ => Err(missing()),
        }
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        if !self.is_there(path)? {
            return Err(missing());
        }
        match self.below.open(path, Open::Read) {
            Ok(_) => drop(self.set(path, Change::Gone)),
            Err(_) => drop(lock(&self.changed).remove(path)),
        }
        Ok(())
    }

    /// Creates the folder at once on the real file system, although the overlay only collects
    /// changes to files. That is harmless, because an empty folder belongs to no session.
    fn make_dir(&self, path: &Path) -> io::Result<()> {
        self.below.make_dir(path)
    }

    /// Syncs a folder on the real file system, unless a collected change creates or replaces a file
    /// in the folder. In that case the folder is synced later, when the file gets its final name.
    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        let is_named =
            |change: &Mutex<Change>| matches!(*lock(change), Change::Content { retain: 0, .. });
        let changed = lock(&self.changed);
        let named = changed.of(path).is_some_and(|files| files.values().any(|file| is_named(file)));
        drop(changed);
        if named { Ok(()) } else { self.below.sync_dir(path) }
    }

    fn names(&self, path: &Path) -> io::Result<Vec<String>> {
        let mut names: BTreeSet<_> = self.below.names(path)?.into_iter().collect();
        for (name, change) in lock(&self.changed).of(path).into_iter().flatten() {
            let Some(name) = name.to_str() else { continue };
            if *lock(change) == Change::Gone {
                names.remove(name);
            } else {
                names.insert(name.to_owned());
            }
        }
        Ok(names.into_iter().collect())
    }
}

/// A file in the overlay of a change to several files, open for writing.
#[derive(Debug)]
struct Changed {
    below: Option<Box<dyn File>>,
    change: Arc<Mutex<Change>>,
}

impl Changed {
    /// Calls `act` with the two parts of the file's new content. These are the number of bytes that
    /// remain from the old file, and the bytes after them.
    fn with<T>(&self, act: impl FnOnce(&mut u64, &mut Vec<u8>) -> io::Result<T>) -> io::Result<T> {
        match &mut *lock(&self.change) {
            Change::Content { retain, tail } => act(retain, tail),
            Change::Gone => Err(missing()),
        }
    }

    /// Copies the bytes `at..retain` of the old file into memory, so that a write may change them.
    /// They become the start of `tail`, and `retain` becomes `at`.
    fn take_from(&self, at: u64, retain: &mut u64, tail: &mut Vec<u8>) -> io::Result<()> {
        if let (Some(below), true) = (&self.below, at < *retain) {
            let mut buffer = vec![0; usize::try_from(*retain - at).unwrap_or_default()];
            let read = below.read_at(&mut buffer, at)?;
            buffer.truncate(read);
            tail.splice(..0, buffer);
            *retain = at;
        }
        Ok(())
    }
}

impl File for Changed {
    fn len(&self) -> io::Result<u64> {
        self.with(|retain, tail| Ok(*retain + tail.len() as u64))
    }

    fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize> {
        self.with(|retain, tail| {
            let mut read = 0;
            if let Some(below) = self.below.as_ref().filter(|_| offset < *retain) {
                let len = into.len().min(usize::try_from(*retain - offset).unwrap_or(usize::MAX));
                read = below.read_at(into.get_mut(..len).unwrap_or_default(), offset)?;
            }
            let from = (offset + read as u64).checked_sub(*retain);
            let from = from.and_then(|from| usize::try_from(from).ok());
            let rest = from.and_then(|from| tail.get(from..)).unwrap_or_default();
            let free = into.get_mut(read..).unwrap_or_default();
            let len = free.len().min(rest.len());
            if let (Some(free), Some(rest)) = (free.get_mut(..len), rest.get(..len)) {
                free.copy_from_slice(rest);
            }
            Ok(read + len)
        })
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        self.with(|retain, tail| {
            self.take_from(offset, retain, tail)?;
            let at = usize::try_from(offset - *retain).unwrap_or(usize::MAX);
            if tail.len() < at + bytes.len() {
                tail.resize(at + bytes.len(), 0);
            }
            if let Some(target) = tail.get_mut(at..at + bytes.len()) {
                target.copy_from_slice(bytes);
            }
            Ok(bytes.len())
        })
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.with(|retain, tail| {
            *retain = (*retain).min(len);
            tail.resize(usize::try_from(len - *retain).unwrap_or_default(), 0);
            Ok(())
        })
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fs::Disk;

    #[test]
    fn changes_are_seen_above_and_not_below() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        std::fs::write(path("a"), "0123456789").unwrap();
        std::fs::write(path("b"), "b").unwrap();
        let overlay = Overlay::over(Arc::new(Disk));
        let a = overlay.open(&path("a"), Open::Write).unwrap();
        a.write_at(b"xyz", 10).unwrap();
        a.write_at(b"AB", 7).unwrap();
        let read = |file: &dyn File, at| {
            let mut bytes = [0; 20];
            let read = file.read_at(&mut bytes, at).unwrap();
            String::from_utf8_lossy(&bytes[..read]).into_owned()
        };
        assert_eq!(read(&*a, 0), "0123456AB9xyz");
        assert_eq!(read(&*a, 11), "yz");
        a.set_len(3).unwrap();
        assert_eq!(read(&*overlay.open(&path("a"), Open::Read).unwrap(), 1), "12");
        assert!(overlay.open(&path("b"), Open::Create).is_err());
        overlay.remove(&path("b")).unwrap();
        let new = overlay.open(&path("c.new"), Open::Create).unwrap();
        new.write_at(b"c", 0).unwrap();
        overlay.rename(&path("c.new"), &path("c")).unwrap();
        assert_eq!(overlay.names(dir.path()).unwrap(), ["a", "c"]);
        assert_eq!(Disk.names(dir.path()).unwrap(), ["a", "b"]);
        let content = |retain, tail: &[u8]| Change::Content { retain, tail: tail.to_vec() };
        let expected = [
            (path("a"), content(3, b"")),
            (path("b"), Change::Gone),
            (path("c"), content(0, b"c")),
        ];
        assert_eq!(overlay.take_changes(), expected);
    }
}
