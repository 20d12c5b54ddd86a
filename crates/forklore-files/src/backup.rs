//! Copies a store while other processes write to it.
//!
//! The first passes copy all files without a lock. The last pass has the store's exclusive lock, so
//! that nothing changes, and copies again what changed since. It is short, because it copies only
//! what was written during the pass before. The copy is therefore the state of the store while the
//! lock was in effect.

use std::collections::HashMap;
use std::fs::{DirBuilder, File, Metadata};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use forklore_store::disk::{Copied, os};
use forklore_store::{Error, Result};
use rustix::fs::OFlags;

use crate::layout::UNFINISHED;
use crate::store::FilesStore;

/// How many passes there are at most before the one with the lock.
const PASSES: usize = 3;
/// If a pass had to copy at most this many bytes, the next one has the lock.
const FEW: u64 = 4 << 20;
/// A file that changed less than this before it was copied may change again without another time of
/// its change, because clocks of file systems are coarse.
const COARSE: Duration = Duration::from_secs(2);

/// What distinguishes a version of a file: its identity, its length and its times of change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Version {
    file: (u64, u64),
    bytes: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Version {
    fn of(found: &Metadata) -> Self {
        Self {
            file: (found.dev(), found.ino()),
            bytes: found.len(),
            modified: (found.mtime(), found.mtime_nsec()),
            changed: (found.ctime(), found.ctime_nsec()),
        }
    }

    /// Checks whether every later change of the file gives it another version.
    fn is_settled(&self, now: SystemTime) -> bool {
        let now = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        let (seconds, _) = self.changed;
        u64::try_from(seconds).is_ok_and(|seconds| seconds + COARSE.as_secs() < now.as_secs())
    }
}

/// A copy in the making: the folders, and which version of each file is copied.
struct Copy<'a> {
    from: &'a Path,
    to: &'a Path,
    settled: HashMap<PathBuf, Version>,
    copied: Copied,
    observe: &'a mut dyn FnMut(Copied),
}

impl FilesStore {
    /// Copies the store to the new folder `to`. Other processes may write meanwhile; at the end,
    /// they wait while what changed during the copy is copied again. The copy contains everything
    /// that was committed before that moment. It is synced, and has a feed of its own. Calls
    /// `observe` after each file.
    ///
    /// # Errors
    /// `Locked` if another process has the store locked for too long; `Denied` or `Io` if a file
    /// cannot be read or written.
    pub fn copy_to(&self, to: &Path, observe: &mut dyn FnMut(Copied)) -> Result<()> {
        let copied = Copied::default();
        let mut copy = Copy { from: self.path(), to, settled: HashMap::new(), copied, observe };
        make(to)?;
        for _ in 0..PASSES {
            if copy.pass()? <= FEW {
                break;
            }
        }
        let passed = if self.is_read_only() {
            match self.pass_exclusive() {
                // Where no lock file can be created, nobody can write to the store.
                Err(Error::Denied(_)) => None,
                passed => Some(passed?),
            }
        } else {
            Some(self.exclusive()?.0)
        };
        copy.pass()?;
        drop(passed);
        sync(to)
    }
}

impl Copy<'_> {
    /// Copies the files that are new or have changed since the last pass, and removes those that
    /// are gone. Returns how many bytes it copied.
    fn pass(&mut self) -> Result<u64> {
        let (mut found, mut folders) = (Vec::new(), Vec::new());
        walk(self.from, Path::new(""), &mut found, &mut folders)?;
        folders.iter().try_for_each(|folder| make(&self.to.join(folder)))?;
        self.copied.all = found.iter().map(|(_, version)| version.bytes).sum();
        self.copied.done = 0;
        let mut bytes = 0;
        for (name, version) in &found {
            if self.settled.get(name) != Some(version) {
                bytes += self.file(name)?;
            }
            self.copied.done += version.bytes;
            (self.observe)(self.copied);
        }
        let mut there = Vec::new();
        walk(self.to, Path::new(""), &mut there, &mut Vec::new())?;
        let is_gone = |name: &Path| self.from.join(name).symlink_metadata().is_err();
        for (name, _) in there.into_iter().filter(|(name, _)| is_gone(name)) {
            let path = self.to.join(&name);
            std::fs::remove_file(&path).map_err(os("removing", &path))?;
            self.settled.remove(&name);
        }
        Ok(bytes)
    }

    /// Copies a file. Returns how many bytes it has; 0 if it is gone meanwhile.
    fn file(&mut self, name: &Path) -> Result<u64> {
        let (from, to) = (self.from.join(name), self.to.join(name));
        let flags = OFlags::NOFOLLOW.bits().cast_signed();
        let mut source = match File::options().read(true).custom_flags(flags).open(&from) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
            opened => opened.map_err(os("reading", &from))?,
        };
        let now = SystemTime::now();
        let version = Version::of(&source.metadata().map_err(os("reading", &from))?);
        if let Some(folder) = to.parent() {
            make(folder)?;
        }
        let bytes = private(&to).and_then(|mut new| io::copy(&mut source, &mut new));
        let bytes = bytes.map_err(os("copying", &from))?;
        if version.is_settled(now) {
            self.settled.insert(name.to_owned(), version);
        } else {
            self.settled.remove(name);
        }
        Ok(bytes)
    }
}

/// Lists the regular files and the folders that a copy of the store contains: in the folder `below`
/// of the store at `root`, and in its folders. Leaves out locks, caches, unfinished files and the
/// feed: a copy gets a feed of its own, so that no mark of the copied store is taken for one of the
/// copy.
fn walk(
    root: &Path,
    below: &Path,
    found: &mut Vec<(PathBuf, Version)>,
    folders: &mut Vec<PathBuf>,
) -> Result<()> {
    let folder = root.join(below);
    let entries = match std::fs::read_dir(&folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(os("reading the folder", &folder))?,
    };
    for entry in entries {
        let entry = entry.map_err(os("reading the folder", &folder))?;
        let name = entry.file_name();
        let text = name.to_string_lossy();
        let is_of_root = below.as_os_str().is_empty();
        let is_left_out = text.ends_with(UNFINISHED)
            || is_of_root && (text.starts_with("store-") || text.starts_with("feed.jsonl"))
            || is_of_root && text == "cache"
            || below == Path::new("attachments") && text.starts_with("new-");
        let path = below.join(&name);
        let about = match entry.metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            about => about.map_err(os("looking at", &entry.path()))?,
        };
        if is_left_out {
            continue;
        } else if about.is_dir() {
            walk(root, &path, found, folders)?;
            folders.push(path);
        } else if about.is_file() {
            found.push((path, Version::of(&about)));
        }
    }
    Ok(())
}

fn make(folder: &Path) -> Result<()> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(os("making the folder", folder))
}

/// Opens an empty file that only its owner can access.
fn private(path: &Path) -> io::Result<File> {
    File::options().write(true).create(true).truncate(true).mode(0o600).open(path)
}

/// Makes everything in the folder durable.
fn sync(folder: &Path) -> Result<()> {
    let opened = File::open(folder).map_err(os("syncing", folder))?;
    #[cfg(target_os = "linux")]
    return rustix::fs::syncfs(&opened).map_err(io::Error::from).map_err(os("syncing", folder));
    #[cfg(not(target_os = "linux"))]
    {
        for entry in std::fs::read_dir(folder).map_err(os("syncing", folder))? {
            let path = entry.map_err(os("syncing", folder))?.path();
            if path.is_dir() {
                sync(&path)?;
            } else {
                File::open(&path).and_then(|file| file.sync_all()).map_err(os("syncing", &path))?;
            }
        }
        opened.sync_all().map_err(os("syncing", folder))
    }
}
