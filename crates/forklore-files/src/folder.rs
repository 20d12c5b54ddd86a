//! File operations in the folder of a store: reading whole files, writing at an offset, creating
//! and renaming files, and syncing them and their names.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use forklore_core::SessionId;
use forklore_store::clock::StoreClock;
use forklore_store::disk::{folder_of, os};
use forklore_store::feed::What;
use forklore_store::{Error, Result};

use crate::feed::{Feed, Write};
use crate::fs::{File, Fs, Open, write_all_at};
use crate::layout::{Layout, Segment, UNFINISHED};
use crate::log::damage;
use crate::{claim, sources};

/// Maximum size in bytes of a file that is read into memory as a whole. The longest such file is
/// the journal of a change to several files.
pub(crate) const WHOLE_BYTES: u64 = 1 << 30;

/// The folder of a store, with the file system on which it is. After a failed sync it refuses all
/// writes.
#[derive(Debug)]
pub(crate) struct Folder {
    pub(crate) fs: Arc<dyn Fs>,
    pub(crate) layout: Layout,
    poisoned: Arc<OnceLock<String>>,
    /// The folder with the real files. `None` unless this folder is an overlay, which collects a
    /// change to several files in memory.
    real: Option<Box<Folder>>,
    /// How many bytes of each changed file are durable. An overlay collects these numbers here, and
    /// they are recorded when its whole change is complete. `None` if this folder is no overlay: it
    /// records each number at once.
    later: Option<Mutex<Vec<Mark>>>,
    pub(crate) clock: StoreClock,
    pub(crate) feed: Feed,
    /// Writes that were announced in the feed and whose ends are not recorded there yet. An overlay
    /// collects them, and their ends are recorded when its whole change is complete. Empty unless
    /// this folder is an overlay.
    under_way: Mutex<Vec<Write>>,
    /// Whether the collected change takes content away that unfinished copies may contain. False
    /// unless this folder is an overlay.
    outdates_copies: AtomicBool,
    /// The folders whose names are known to be durable. Without this set, each write would list the
    /// files of its folder, which takes long if they are very many.
    made: Arc<Mutex<HashSet<PathBuf>>>,
}

/// A record that says how many bytes of a file are durable. The last field of each variant is that
/// number.
#[derive(Clone, Debug)]
pub(crate) enum Mark {
    /// How many bytes of this session's own file are durable.
    Session(SessionId, Segment, u64),
    /// How many bytes of the import log `sources.jsonl` are durable.
    Sources(u64),
}

impl Folder {
    pub(crate) fn new(fs: Arc<dyn Fs>, layout: Layout) -> Self {
        let (poisoned, real, under_way, outdates_copies, later, made) = <_>::default();
        let feed = Feed::at(&layout);
        let clock = StoreClock::default();
        Self { fs, layout, poisoned, real, later, clock, feed, under_way, outdates_copies, made }
    }

    /// Returns the same folder on the file system `fs`, an overlay that collects a change to
    /// several files in memory. Until the change is complete, the returned folder also collects
    /// what it would otherwise record at once: the durable lengths of files (`later`) and the ends
    /// of the feed's announcements (`under_way`).
    pub(crate) fn over(&self, fs: Arc<dyn Fs>) -> Self {
        let real = Some(Box::new(self.on(self.fs.clone())));
        Self { real, later: Some(Mutex::default()), ..self.on(fs) }
    }

    /// Returns the same folder on the file system `fs`. A failed sync in one of the two stops the
    /// writes of both.
    fn on(&self, fs: Arc<dyn Fs>) -> Self {
        let (clock, feed) = (self.clock.clone(), self.feed.clone());
        let (made, poisoned) = (Arc::clone(&self.made), Arc::clone(&self.poisoned));
        Self { clock, feed, made, poisoned, ..Self::new(fs, self.layout.clone()) }
    }

    /// Returns the folder with the real files if this folder is an overlay, which collects a change
    /// to several files in memory. Otherwise returns `None`.
    pub(crate) fn real(&self) -> Option<&Self> {
        self.real.as_deref()
    }

    /// Announces in the feed that this process is about to write to a session. The caller drops the
    /// returned value after the write. If this folder is an overlay that collects a change to
    /// several files, returns `None`. The announcement then ends when the whole change is complete.
    ///
    /// # Errors
    /// `Io` if the announcement cannot be written. The caller must then not write to the session.
    pub(crate) fn announce(&self, what: What, session: &SessionId) -> Result<Option<Write>> {
        let write = self.feed.begin(what, session)?;
        if self.later.is_none() {
            return Ok(Some(write));
        }
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner).push(write);
        Ok(None)
    }

    /// Notes that the collected change takes content away that unfinished copies may contain. They
    /// are removed when all files of the change are written.
    pub(crate) fn outdate_copies(&self) {
        self.outdates_copies.store(true, Ordering::Relaxed);
    }

    /// Checks whether the collected change takes content away that unfinished copies may contain.
    pub(crate) fn outdates_copies(&self) -> bool {
        self.outdates_copies.load(Ordering::Relaxed)
    }

    /// Records how many bytes of a file are durable. Losing the record is harmless: the next reader
    /// then checks the bytes after the previously recorded length again.
    pub(crate) fn mark(&self, mark: Mark) {
        match &self.later {
            Some(later) => later.lock().unwrap_or_else(PoisonError::into_inner).push(mark),
            None => self.mark_now(&mark),
        }
    }

    fn mark_now(&self, mark: &Mark) {
        let (path, bytes) = match mark {
            Mark::Session(id, segment, durable) => {
                (self.layout.claim(segment.name()), claim::encoded(id, segment, *durable))
            }
            Mark::Sources(durable) => (self.layout.sources_mark(), sources::encoded(*durable)),
        };
        if let (Ok(Some(file)), Ok(bytes)) = (self.open(&path, Open::Write), bytes)
            && file.write_at(bytes.as_bytes(), 0).is_ok()
            && file.len().is_ok_and(|len| len > bytes.len() as u64)
        {
            let _ = file.set_len(bytes.len() as u64);
        }
    }

    /// Records for each file of a change to several files how many of its bytes are durable. The
    /// overlay `other` collected these numbers. The caller calls this once the change is complete.
    pub(crate) fn mark_like(&self, other: &Self) {
        let later = other.later.as_ref().map(Mutex::lock);
        let marks = later.map(|later| later.unwrap_or_else(PoisonError::into_inner).clone());
        marks.iter().flatten().for_each(|mark| self.mark_now(mark));
    }

    /// Fails if a sync in this folder has failed before. Data that the failed sync should have made
    /// durable may be lost even if a later sync succeeds.
    ///
    /// # Errors
    /// `Poisoned` with the failure.
    pub(crate) fn check_sound(&self) -> Result<()> {
        match self.poisoned.get() {
            None => Ok(()),
            Some(failure) => Err(self.poison(failure.clone())),
        }
    }

    fn poison(&self, failure: String) -> Error {
        Error::Poisoned { location: self.layout.root().display().to_string(), failure }
    }

    fn synced(&self, path: &Path, synced: io::Result<()>) -> Result<()> {
        synced.map_err(|error| {
            let failure = format!("{}: {error}", path.display());
            let _ = self.poisoned.set(failure.clone());
            self.poison(failure)
        })
    }

    /// Opens the file at `path`. Returns `None` if it does not exist.
    pub(crate) fn open(&self, path: &Path, how: Open) -> Result<Option<Box<dyn File>>> {
        match self.fs.open(path, how) {
            Ok(file) => Ok(Some(file)),
            Err(error) if is_nothing(&error) => Ok(None),
            Err(error) if is_no_file(&error) => Err(damage(path, 0, "it is no file")),
            Err(error) => Err(os("opening", path)(error)),
        }
    }

    /// Reads the whole file at `path`. Returns `None` if it does not exist.
    pub(crate) fn read(&self, path: &Path) -> Result<Option<Vec<u8>>> {
        let Some(file) = self.open(path, Open::Read)? else {
            return Ok(None);
        };
        let len = file.len().map_err(os("reading", path))?;
        if len > WHOLE_BYTES {
            return Err(Error::io(format!("reading {}", path.display()), "it is too long"));
        }
        let mut bytes = vec![0; usize::try_from(len).unwrap_or_default()];
        let read = file.read_at(&mut bytes, 0).map_err(os("reading", path))?;
        bytes.truncate(read);
        Ok(Some(bytes))
    }

    /// Writes all of `bytes` at the offset `at` of a file. It uses several system calls only if one
    /// call writes fewer bytes than requested.
    pub(crate) fn write(&self, file: &dyn File, path: &Path, bytes: &[u8], at: u64) -> Result<()> {
        write_all_at(file, bytes, at).map_err(os("writing", path))
    }

    /// Syncs a file, so that all bytes written to it become durable.
    pub(crate) fn sync(&self, file: &dyn File, path: &Path) -> Result<()> {
        self.synced(path, file.sync())
    }

    /// Syncs the folder of the file at `path`, so that the file's new name, or its removal, becomes
    /// durable.
    pub(crate) fn sync_name(&self, path: &Path) -> Result<()> {
        self.sync_folder(folder_of(path))
    }

    /// Syncs a folder, so that all names in it become durable.
    pub(crate) fn sync_folder(&self, folder: &Path) -> Result<()> {
        self.synced(folder, self.fs.sync_dir(folder))
    }

    /// Creates a folder if it does not exist, and makes its name durable. Also syncs the name of an
    /// existing folder that is empty, because the process that created it may have been killed
    /// before its own sync. In an overlay, the name becomes durable when the whole change does.
    pub(crate) fn make_dir(&self, path: &Path) -> Result<()> {
        let made = || self.made.lock().unwrap_or_else(PoisonError::into_inner);
        // Somebody may have removed the folder since it was made.
        if made().contains(path) && self.is_there(path)? {
            return Ok(());
        }
        if self.names(path)?.is_empty() {
            self.fs.make_dir(path).map_err(os("making the folder", path))?;
            self.sync_name(path)?;
            if self.later.is_some() {
                // The overlay may have put off the sync until the change is complete.
                return Ok(());
            }
        }
        made().insert(path.to_owned());
        Ok(())
    }

    /// Checks whether a file or a folder with this path exists.
    fn is_there(&self, path: &Path) -> Result<bool> {
        match self.fs.open(path, Open::Read) {
            Ok(_) => Ok(true),
            Err(error) if is_nothing(&error) => Ok(false),
            Err(error) if is_no_file(&error) => Ok(true),
            Err(error) => Err(os("opening", path)(error)),
        }
    }

    /// Creates or replaces a file atomically and durably. No process ever finds the file
    /// incomplete.
    pub(crate) fn put(&self, path: &Path, bytes: &[u8]) -> Result<()> {
        let new = self.unfinished(path, bytes)?;
        self.publish(&new, path)
    }

    /// Writes and syncs a new file under a temporary name, next to `path`. Returns the temporary
    /// path.
    fn unfinished(&self, path: &Path, bytes: &[u8]) -> Result<PathBuf> {
        let (new, file) = self.begun(path, bytes)?;
        let synced = self.sync(&*file, &new);
        if synced.is_err() {
            let _ = self.fs.remove(&new);
        }
        synced.map(|()| new)
    }

    /// Writes a new file under a temporary name, next to `path`. Does not sync it. Returns the
    /// temporary path and the open file.
    pub(crate) fn begun(&self, path: &Path, bytes: &[u8]) -> Result<(PathBuf, Box<dyn File>)> {
        let new = forklore_store::disk::with_suffix(path, UNFINISHED);
        self.remove(&new)?;
        let file = self.fs.open(&new, Open::Create).map_err(os("making", &new))?;
        let written = self.write(&*file, &new, bytes, 0);
        if written.is_err() {
            let _ = self.fs.remove(&new);
        }
        written.map(|()| (new, file))
    }

    /// Renames the durable file `new` to its final name `path`, and makes that name durable.
    pub(crate) fn publish(&self, new: &Path, path: &Path) -> Result<()> {
        self.fs.rename(new, path).map_err(os("renaming", new))?;
        self.sync_name(path)
    }

    /// Removes the file at `path`. Succeeds if it does not exist.
    pub(crate) fn remove(&self, path: &Path) -> Result<()> {
        match self.fs.remove(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(os("removing", path)(error))
            }
            _ => Ok(()),
        }
    }

    /// Returns the names in a folder, or no names if the folder does not exist.
    pub(crate) fn names(&self, path: &Path) -> Result<Vec<String>> {
        match self.fs.names(path) {
            Ok(names) => Ok(names),
            Err(error) if is_nothing(&error) => Ok(Vec::new()),
            Err(error) => Err(os("reading the folder", path)(error)),
        }
    }
}

/// Checks whether the error means that nothing exists at the path. That is also the case if a
/// folder in the path is in fact a file, which another program may have created.
fn is_nothing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Checks whether the error means that something other than a file is at the path. Examples are a
/// folder, a symbolic link and a pipe.
fn is_no_file(error: &io::Error) -> bool {
    let link = rustix::io::Errno::LOOP.raw_os_error();
    error.kind() == io::ErrorKind::IsADirectory
        || error.kind() == io::ErrorKind::InvalidInput
        || error.raw_os_error() == Some(link)
}
