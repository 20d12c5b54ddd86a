//! Writes a store, or anything else of several files, under a temporary name, and gives it its name
//! when it is complete.
//!
//! The temporary files of `saved.db` are in the folder `.saved.db.unfinished` next to it. The
//! process that writes them has the folder locked. The next process with the same target removes
//! what a killed one left. A store can have a companion, such as its folder of attachments. It gets
//! its name first, because the main file is what makes a store.

use std::ffi::OsString;
use std::fs::{DirBuilder, File, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, OFlags, RenameFlags, renameat_with};

use super::{folder_of, os, refuse_others, with_suffix};
use crate::{Error, Result};

/// The name of the file in the temporary folder that lists the companions which get their names.
const NAMING: &str = "naming";

/// Files that are being written under a temporary name. Dropping this value removes them.
#[derive(Debug)]
pub struct Unfinished {
    folder: PathBuf,
    target: PathBuf,
    name: OsString,
    companions: &'static [&'static str],
    _lock: File,
}

impl Unfinished {
    /// Begins to write what will be at `target`. `companions` are the suffixes of further files or
    /// folders that may belong to it. First removes what a killed process left of the same work.
    ///
    /// # Errors
    /// `Occupied` if there is something at `target` or at the path of a companion; `Locked` if
    /// another process is writing it; `Invalid` if `target` has no file name; `Denied` or `Io` if
    /// the temporary folder cannot be created.
    pub fn begin(target: &Path, companions: &'static [&'static str]) -> Result<Self> {
        let nameless = || Error::Invalid(format!("{} names no file", target.display()));
        let name = target.file_name().ok_or_else(nameless)?.to_owned();
        refuse_occupied(target)?;
        let mut hidden = OsString::from(".");
        hidden.push(&name);
        hidden.push(".unfinished");
        let folder = folder_of(target).join(hidden);
        let lock = locked(&folder)?;
        let target = target.to_owned();
        let unfinished = Self { folder, target, name, companions, _lock: lock };
        unfinished.remove_remains()?;
        unfinished.all(&unfinished.target).try_for_each(|path| refuse_occupied(&path))?;
        Ok(unfinished)
    }

    /// Returns the path at which to write. Companions are written at this path with their suffixes.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.folder.join(&self.name)
    }

    /// Gives everything its name. The caller has synced the files. Calls `step` before and after
    /// each change of a name.
    ///
    /// # Errors
    /// `Occupied` if something appeared at the target meanwhile; `Denied` or `Io` if a file cannot
    /// be renamed or synced. The target then does not exist.
    pub fn give_name(self, step: &mut dyn FnMut()) -> Result<()> {
        let above = folder_of(&self.target);
        let new = self.path();
        let written = |suffix: &&str| with_suffix(&new, suffix).symlink_metadata().is_ok();
        let written: Vec<_> = self.companions.iter().copied().filter(written).collect();
        step();
        if !written.is_empty() {
            let naming = self.folder.join(NAMING);
            let listed = std::fs::write(&naming, written.join("\n"))
                .and_then(|()| File::open(&naming)?.sync_all());
            listed.map_err(os("writing", &naming))?;
            sync_folder(&self.folder)?;
        }
        for suffix in &written {
            self.rename(&with_suffix(&new, suffix), &with_suffix(&self.target, suffix))?;
            sync_folder(above)?;
            step();
        }
        if let Err(error) = self.rename(&new, &self.target) {
            // The companions have names by now, and nothing that they belong to.
            self.remove_companions(&written)?;
            return Err(error);
        }
        sync_folder(above)?;
        step();
        Ok(())
    }

    /// Returns the paths of `path` and of its companions.
    fn all(&self, path: &Path) -> impl Iterator<Item = PathBuf> {
        let companions = self.companions.iter().map(|suffix| with_suffix(path, suffix));
        std::iter::once(path.to_owned()).chain(companions.collect::<Vec<_>>())
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        rename_new(from, to).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => Error::Occupied { location: to.display().to_string() },
            _ => os("naming", to)(error),
        })
    }

    /// Removes what a killed process left in the temporary folder, and the companions to which it
    /// had already given their names.
    fn remove_remains(&self) -> Result<()> {
        let is_unnamed = self.path().symlink_metadata().is_ok();
        if let (true, Ok(listed)) = (is_unnamed, std::fs::read_to_string(self.folder.join(NAMING)))
        {
            let is_listed = |suffix: &&str| listed.lines().any(|line| line == *suffix);
            let named: Vec<_> = self.companions.iter().copied().filter(is_listed).collect();
            self.remove_companions(&named)?;
        }
        let failed = || os("removing", &self.folder);
        for entry in std::fs::read_dir(&self.folder).map_err(failed())? {
            let path = entry.map_err(failed())?.path();
            remove(&path).map_err(os("removing", &path))?;
        }
        Ok(())
    }

    /// Removes those of the companions that already have their names. They are no longer in the
    /// temporary folder.
    fn remove_companions(&self, suffixes: &[&str]) -> Result<()> {
        for suffix in suffixes {
            let named = with_suffix(&self.target, suffix);
            if with_suffix(&self.path(), suffix).symlink_metadata().is_err() {
                remove(&named).map_err(os("removing", &named))?;
            }
        }
        Ok(())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        // The next process with the same target removes what cannot be removed now.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Syncs a folder, which makes the names of the files in it durable.
fn sync_folder(folder: &Path) -> Result<()> {
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(os("syncing", folder))
}

fn refuse_occupied(path: &Path) -> Result<()> {
    match path.symlink_metadata() {
        Ok(_) => Err(Error::Occupied { location: path.display().to_string() }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(os("looking at", path)(error)),
    }
}

/// Removes the file or folder at `path`, if there is one.
fn remove(path: &Path) -> io::Result<()> {
    match path.symlink_metadata() {
        Ok(found) if found.is_dir() => std::fs::remove_dir_all(path),
        Ok(_) => std::fs::remove_file(path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Renames a file or folder, and replaces nothing.
fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => {
            // This file system cannot refuse to replace. The lock excludes other programs of ours.
            match to.symlink_metadata() {
                Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
                Err(_) => std::fs::rename(from, to),
            }
        }
        renamed => Ok(renamed?),
    }
}

/// Creates the temporary folder, or opens the one that a killed process left, and locks it.
fn locked(folder: &Path) -> Result<File> {
    let failed = || os("making the folder", folder);
    loop {
        match DirBuilder::new().mode(0o700).create(folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(failed()(error));
            }
            _ => {}
        }
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW;
        let opened =
            File::options().read(true).custom_flags(flags.bits().cast_signed()).open(folder);
        let opened = match opened {
            // The process that had it ended meanwhile.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            opened => opened.map_err(failed())?,
        };
        let found = opened.metadata().map_err(failed())?;
        refuse_others(folder, &found)?;
        match opened.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let message = format!("another process is writing {}", folder.display());
                return Err(Error::Locked(message));
            }
            Err(TryLockError::Error(error)) => return Err(os("locking", folder)(error)),
        }
        let is_there = |there: std::fs::Metadata| there.ino() == found.ino();
        if folder.symlink_metadata().is_ok_and(is_there) {
            return Ok(opened);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ATTACHED: &[&str] = &["-attachments"];

    /// Writes the text of a main file and of a companion at the temporary path.
    fn write(unfinished: &Unfinished) {
        std::fs::write(unfinished.path(), "main").unwrap();
        let attached = with_suffix(&unfinished.path(), "-attachments");
        std::fs::create_dir(&attached).unwrap();
        std::fs::write(attached.join("one"), "attached").unwrap();
    }

    /// Returns the sorted names of what is in a folder.
    fn names(folder: &Path) -> Vec<String> {
        let names = std::fs::read_dir(folder).unwrap();
        let mut names: Vec<_> =
            names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn everything_gets_its_name_and_nothing_is_left() {
        let dir = tempfile::tempdir().unwrap();
        let unfinished = Unfinished::begin(&dir.path().join("a.db"), ATTACHED).unwrap();
        write(&unfinished);
        assert_eq!(names(dir.path()), [".a.db.unfinished"]);
        unfinished.give_name(&mut || ()).unwrap();
        assert_eq!(names(dir.path()), ["a.db", "a.db-attachments"]);
    }

    #[test]
    fn nothing_is_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("a.db");
        std::fs::create_dir(with_suffix(&target, "-attachments")).unwrap();
        let refused = Unfinished::begin(&target, ATTACHED).unwrap_err();
        assert!(matches!(refused, Error::Occupied { .. }), "{refused}");
        std::fs::remove_dir(with_suffix(&target, "-attachments")).unwrap();

        let unfinished = Unfinished::begin(&target, ATTACHED).unwrap();
        write(&unfinished);
        std::fs::write(&target, "of somebody else").unwrap();
        let refused = unfinished.give_name(&mut || ()).unwrap_err();
        assert!(matches!(refused, Error::Occupied { .. }), "{refused}");
        assert_eq!(names(dir.path()), ["a.db"]);
        assert_eq!(std::fs::read_to_string(&target).unwrap(), "of somebody else");
    }

    #[test]
    fn two_at_once_are_refused_and_remains_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("a.db");
        let first = Unfinished::begin(&target, ATTACHED).unwrap();
        let second = Unfinished::begin(&target, ATTACHED).unwrap_err();
        assert!(matches!(second, Error::Locked(_)), "{second}");
        drop(first);
        // What a process leaves that is killed after it has named the attachments.
        let temporary = dir.path().join(".a.db.unfinished");
        std::fs::create_dir(&temporary).unwrap();
        std::fs::write(temporary.join("a.db"), "main").unwrap();
        std::fs::write(temporary.join(NAMING), "-attachments").unwrap();
        std::fs::create_dir(with_suffix(&target, "-attachments")).unwrap();
        drop(Unfinished::begin(&target, ATTACHED).unwrap());
        assert_eq!(names(dir.path()), Vec::<String>::new());
    }
}
