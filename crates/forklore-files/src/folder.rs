//! The folder of a store as its steps use it: whole files, appends, durable names.

use std::io;
use std::path::{Path, PathBuf};
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

/// The longest file that is read as a whole: a step over several files.
const WHOLE_BYTES: u64 = 1 << 30;

/// A store's folder, until the disk fails to make something durable.
#[derive(Debug)]
pub(crate) struct Folder {
    pub(crate) fs: Arc<dyn Fs>,
    pub(crate) layout: Layout,
    poisoned: OnceLock<String>,
    /// What a step over several files will have made durable, once it is done.
    later: Option<Mutex<Vec<Mark>>>,
    pub(crate) clock: StoreClock,
    pub(crate) feed: Feed,
    /// The writes of a step over several files, which are done when it is.
    under_way: Mutex<Vec<Write>>,
}

/// How much of a file is durable.
#[derive(Clone, Debug)]
pub(crate) enum Mark {
    /// A session's own file.
    Session(SessionId, Segment, u64),
    /// The log of imports.
    Sources(u64),
}

impl Folder {
    pub(crate) fn new(fs: Arc<dyn Fs>, layout: Layout) -> Self {
        let (poisoned, under_way, later) = <_>::default();
        let feed = Feed::at(&layout);
        let clock = StoreClock::default();
        Self { fs, layout, poisoned, later, clock, feed, under_way }
    }

    /// The same folder over another file system, on which nothing is durable before it is done.
    pub(crate) fn over(&self, fs: Arc<dyn Fs>) -> Self {
        let (layout, feed) = (self.layout.clone(), self.feed.clone());
        let clock = self.clock.clone();
        Self { later: Some(Mutex::default()), clock, feed, ..Self::new(fs, layout) }
    }

    /// Tells those who follow that a session is about to be written to. They look at it when what
    /// this gives is dropped: behind the write, or the step that it is part of.
    ///
    /// # Errors
    /// `Io`, and then nothing may be written.
    pub(crate) fn announce(&self, what: What, session: &SessionId) -> Result<Option<Write>> {
        let write = self.feed.begin(what, session)?;
        if self.later.is_none() {
            return Ok(Some(write));
        }
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner).push(write);
        Ok(None)
    }

    /// Notes that this much of a file is durable. It is no loss when this is lost: what stands
    /// behind the mark is then checked again.
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

    /// What a step noted over another file system, now that it is done.
    pub(crate) fn mark_like(&self, other: &Self) {
        let later = other.later.as_ref().map(Mutex::lock);
        let marks = later.map(|later| later.unwrap_or_else(PoisonError::into_inner).clone());
        marks.iter().flatten().for_each(|mark| self.mark_now(mark));
    }

    /// Refuses to write on when a sync has failed: what was not synced may be lost although a
    /// later sync succeeds (CRAFT D2).
    pub(crate) fn check_sound(&self) -> Result<()> {
        match self.poisoned.get() {
            None => Ok(()),
            Some(failure) => Err(self.poison(failure.clone())),
        }
    }

    /// Takes over what another view of the same folder found of the disk.
    pub(crate) fn poisoned_like(&self, other: &Self) {
        if let Some(failure) = other.poisoned.get() {
            let _ = self.poisoned.set(failure.clone());
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

    /// The open file; none where there is none.
    pub(crate) fn open(&self, path: &Path, how: Open) -> Result<Option<Box<dyn File>>> {
        match self.fs.open(path, how) {
            Ok(file) => Ok(Some(file)),
            Err(error) if is_nothing(&error) => Ok(None),
            Err(error) if is_no_file(&error) => Err(damage(path, 0, "it is no file")),
            Err(error) => Err(os("opening", path)(error)),
        }
    }

    /// The bytes of a file; none where there is none.
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

    /// Writes all of `bytes` at a place, in one write as far as the system takes it in one.
    pub(crate) fn write(&self, file: &dyn File, path: &Path, bytes: &[u8], at: u64) -> Result<()> {
        write_all_at(file, bytes, at).map_err(os("writing", path))
    }

    /// Makes what was written to the file durable.
    pub(crate) fn sync(&self, file: &dyn File, path: &Path) -> Result<()> {
        self.synced(path, file.sync())
    }

    /// Makes the name of the file at `path` durable, or that it is gone.
    pub(crate) fn sync_name(&self, path: &Path) -> Result<()> {
        self.sync_folder(folder_of(path))
    }

    /// Makes the names in a folder durable.
    pub(crate) fn sync_folder(&self, folder: &Path) -> Result<()> {
        self.synced(folder, self.fs.sync_dir(folder))
    }

    /// Makes a folder with a durable name. One that is there and empty may have been made by
    /// somebody who was killed before its name was durable.
    pub(crate) fn make_dir(&self, path: &Path) -> Result<()> {
        if !self.names(path)?.is_empty() {
            return Ok(());
        }
        self.fs.make_dir(path).map_err(os("making the folder", path))?;
        self.sync_name(path)
    }

    /// Makes or replaces a file in one step: nobody ever finds half of it.
    pub(crate) fn put(&self, path: &Path, bytes: &[u8]) -> Result<()> {
        let new = self.unfinished(path, bytes)?;
        self.publish(&new, path)
    }

    /// Writes a file beside its place, durable but under no name that is looked for.
    fn unfinished(&self, path: &Path, bytes: &[u8]) -> Result<PathBuf> {
        let (new, file) = self.begun(path, bytes)?;
        let synced = self.sync(&*file, &new);
        if synced.is_err() {
            let _ = self.fs.remove(&new);
        }
        synced.map(|()| new)
    }

    /// The same before it is durable.
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

    /// Gives a durable file its name.
    pub(crate) fn publish(&self, new: &Path, path: &Path) -> Result<()> {
        self.fs.rename(new, path).map_err(os("renaming", new))?;
        self.sync_name(path)
    }

    /// Removes a file; one that is not there is no error.
    pub(crate) fn remove(&self, path: &Path) -> Result<()> {
        match self.fs.remove(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(os("removing", path)(error))
            }
            _ => Ok(()),
        }
    }

    /// The names in a folder; none where there is none.
    pub(crate) fn names(&self, path: &Path) -> Result<Vec<String>> {
        match self.fs.names(path) {
            Ok(names) => Ok(names),
            Err(error) if is_nothing(&error) => Ok(Vec::new()),
            Err(error) => Err(os("reading the folder", path)(error)),
        }
    }
}

/// Whether there is nothing of that name: also in the place of a folder, where tools leave files.
fn is_nothing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Whether a folder, a link or a pipe stands in the place of a file.
fn is_no_file(error: &io::Error) -> bool {
    let link = rustix::io::Errno::LOOP.raw_os_error();
    error.kind() == io::ErrorKind::IsADirectory
        || error.kind() == io::ErrorKind::InvalidInput
        || error.raw_os_error() == Some(link)
}
