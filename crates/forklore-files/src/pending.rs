//! Changes to several files: written to a journal as a whole, then performed, then removed from it.
//!
//! Any process that finds a journal performs it again before anything else. Performing it twice has
//! the same result as once.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use forklore_store::disk::{folder_of, os};
use forklore_store::{Error, Result};
use serde::{Deserialize, Serialize};

use crate::folder::Folder;
use crate::fs::{File, Open};
use crate::line;
use crate::line::sealed;
use crate::log::damage;
use crate::overlay::{Change, Overlay};
use crate::record::{VERSION, hex, unhex};

/// Number of files written before they are synced together: as many as an import writes for a
/// session, and not too many for a process that is short of descriptors.
const FILES_AT_ONCE: usize = 4;

#[derive(Debug, Serialize, Deserialize)]
struct Pending {
    forklore: u32,
    pending: Vec<Write>,
}

/// The change to one file, named by its path in the store's folder.
#[derive(Debug, Serialize, Deserialize)]
struct Write {
    file: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "keep")]
    retain: Option<u64>,
    /// Whether the file did not exist before.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    new: bool,
    /// The bytes after the first `retain` ones; `None` if the file is removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tail: Option<Tail>,
}

/// Bytes as JSON. They are in hex if they are not UTF-8, as a torn tail that is set aside may be.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Tail {
    Text(String),
    Bytes { hex: String },
}

impl Tail {
    fn of(bytes: Vec<u8>) -> Self {
        match String::from_utf8(bytes) {
            Ok(text) => Self::Text(text),
            Err(error) => Self::Bytes { hex: hex(error.as_bytes()) },
        }
    }

    fn bytes(&self) -> Option<Cow<'_, [u8]>> {
        match self {
            Self::Text(text) => Some(Cow::Borrowed(text.as_bytes())),
            Self::Bytes { hex } => unhex(hex).map(Cow::Owned),
        }
    }
}

impl Folder {
    /// Runs a `step` that may change several files, all or nothing.
    pub(crate) fn together<T>(&self, step: impl FnOnce(&Self) -> Result<T>) -> Result<T> {
        let overlay = Arc::new(Overlay::over(self.fs.clone()));
        let above = self.over(overlay.clone());
        let value = step(&above).inspect_err(|_| self.poisoned_like(&above))?;
        let changes = overlay.take_changes();
        let mut writes = Vec::with_capacity(changes.len());
        for (path, change) in changes {
            let file = path.strip_prefix(self.layout.root()).ok().and_then(|file| file.to_str());
            let file = file.ok_or_else(|| Error::io("naming a file", "it lies elsewhere"))?;
            let (retained, tail) = match change {
                Change::Gone => (None, None),
                Change::Content { retain: retained, tail } => {
                    (Some(retained), Some(Tail::of(tail)))
                }
            };
            let new = self.open(&path, Open::Read)?.is_none();
            writes.push(Write { file: file.to_owned(), retain: retained, new, tail });
        }
        if !writes.is_empty() {
            let pending = Pending { forklore: VERSION, pending: writes };
            self.put(&self.layout.pending(), sealed(&pending)?.as_bytes())?;
            self.write_all(&pending).inspect_err(|_| self.take_back(&pending))?;
            self.remove_all(&pending)?;
            self.mark_like(&above);
        }
        Ok(value)
    }

    /// Restores the state before a change that could not be completed, e.g. because the disk is
    /// full. If that fails too, or it is unknown what is durable, the journal stays.
    fn take_back(&self, pending: &Pending) {
        if self.check_sound().is_err() {
            return;
        }
        let applied = pending.pending.iter().try_for_each(|write| {
            let path = self.layout.root().join(&write.file);
            match (write.new, write.retain) {
                (true, _) => self.remove(&path).and_then(|()| self.sync_name(&path)),
                (false, Some(retained @ 1..)) => {
                    let file = self.fs.open(&path, Open::Write).map_err(os("opening", &path))?;
                    file.set_len(retained).map_err(os("cutting back", &path))?;
                    self.sync(&*file, &path)
                }
                (false, _) => Ok(()),
            }
        });
        if applied.is_ok() && self.check_sound().is_ok() {
            let _ = self.forget_pending();
        }
    }

    /// Checks whether a journal exists: of a running change, or of one whose writer was killed.
    pub(crate) fn is_pending(&self) -> Result<bool> {
        Ok(self.open(&self.layout.pending(), Open::Read)?.is_some())
    }

    /// Performs the journal that a killed writer left.
    pub(crate) fn finish_pending(&self) -> Result<()> {
        match self.pending()? {
            Some(pending) => {
                // Its writer announced the sessions and died, so no announcement will end; report
                // all as changed.
                let done = self.finish(&pending);
                done.and_then(|()| self.feed.everything())
            }
            None if self.is_pending()? => self.forget_pending(),
            None => Ok(()),
        }
    }

    /// Reads the journal. Returns `None` if the change is complete and only an empty file is left.
    ///
    /// # Errors
    /// `Corrupt` if it cannot be read.
    fn pending(&self) -> Result<Option<Pending>> {
        let path = self.layout.pending();
        let bytes = self.read(&path)?.unwrap_or_default();
        if bytes.is_empty() {
            return Ok(None);
        }
        let text = line::checked(&bytes).map_err(|wrong| damage(&path, 0, wrong))?;
        let pending: Pending =
            serde_json::from_str(text).map_err(|error| damage(&path, 0, &error))?;
        if pending.forklore != VERSION {
            let path = path.display();
            return Err(Error::Unsupported(format!("a newer forklore wrote {path}; use that")));
        }
        Ok(Some(pending))
    }

    /// Checks whether the journal can be read.
    pub(crate) fn check_pending(&self) -> Result<()> {
        self.pending().map(|_| ())
    }

    fn finish(&self, pending: &Pending) -> Result<()> {
        self.write_all(pending)?;
        self.remove_all(pending)
    }

    fn write_all(&self, pending: &Pending) -> Result<()> {
        let writes: Vec<_> = pending.pending.iter().filter(|write| write.tail.is_some()).collect();
        writes.chunks(FILES_AT_ONCE).try_for_each(|writes| self.write_some(writes))
    }

    /// Writes a few files. A sync of one file waits for those of the others, so they start
    /// together.
    fn write_some(&self, writes: &[&Write]) -> Result<()> {
        let mut begun = Vec::with_capacity(writes.len());
        let done = self.write_begun(writes, &mut begun);
        if done.is_err() {
            for new in begun.iter().filter(|begun| begun.at != begun.path) {
                let _ = self.fs.remove(&new.at);
            }
        }
        done
    }

    fn write_begun(&self, writes: &[&Write], begun: &mut Vec<Begun>) -> Result<()> {
        for write in writes {
            begun.extend(self.begin(write)?);
        }
        at_once(begun.iter().map(|begun| || self.sync(&*begun.file, &begun.at)))?;
        let new = begun.iter().filter(|begun| begun.at != begun.path);
        let mut folders = BTreeSet::new();
        for Begun { at, path, .. } in new {
            self.fs.rename(at, path).map_err(os("renaming", at))?;
            folders.insert(folder_of(path));
        }
        at_once(folders.iter().map(|folder| || self.sync_folder(folder)))
    }

    /// Writes a file that will be synced later; a new file gets a temporary name.
    fn begin(&self, write: &Write) -> Result<Option<Begun>> {
        let Some(tail) = &write.tail else { return Ok(None) };
        let broken = || damage(&self.layout.pending(), 0, "its bytes are none");
        let (bytes, path) = (tail.bytes().ok_or_else(broken)?, self.path_of(write)?);
        let retained = write.retain.unwrap_or_default();
        let (at, file) = match retained {
            0 => self.begun(&path, &bytes)?,
            select => (path.clone(), self.write_behind(&path, select, &bytes)?),
        };
        Ok(Some(Begun { file, at, path }))
    }

    /// Removes the files to remove, and then the journal. After this the change is not undone.
    fn remove_all(&self, pending: &Pending) -> Result<()> {
        let mut folders = BTreeSet::new();
        for write in pending.pending.iter().filter(|write| write.tail.is_none()) {
            let path = self.path_of(write)?;
            self.remove(&path)?;
            folders.insert(folder_of(&path).to_owned());
        }
        folders.iter().try_for_each(|folder| self.sync_folder(folder))?;
        self.forget_pending()
    }

    /// Empties the journal, syncs it and removes it. If it were only removed, a power failure might
    /// bring it back, and it would be performed over later writes; an empty one is harmless.
    fn forget_pending(&self) -> Result<()> {
        let path = self.layout.pending();
        let file = self.fs.open(&path, Open::Write).map_err(os("opening", &path))?;
        file.set_len(0).map_err(os("clearing", &path))?;
        self.sync(&*file, &path)?;
        self.remove(&path)
    }

    fn path_of(&self, write: &Write) -> Result<PathBuf> {
        let outside =
            |part: std::path::Component<'_>| !matches!(part, std::path::Component::Normal(_));
        if Path::new(&write.file).components().any(outside) {
            return Err(damage(&self.layout.pending(), 0, "it names a file outside the store"));
        }
        Ok(self.layout.root().join(&write.file))
    }

    /// Writes `tail` after the first `retained` bytes of a file.
    fn write_behind(&self, path: &Path, retained: u64, tail: &[u8]) -> Result<Box<dyn File>> {
        let file = self.fs.open(path, Open::Write).map_err(os("opening", path))?;
        let len = file.len().map_err(os("reading", path))?;
        if len < retained {
            return Err(damage(path, len, "the file is shorter than a step over it expects"));
        }
        if len > retained {
            file.set_len(retained).map_err(os("cutting back", path))?;
        }
        self.write(&*file, path, tail, retained)?;
        Ok(file)
    }
}

/// A file that was written but not synced.
struct Begun {
    file: Box<dyn File>,
    /// Its present path.
    at: PathBuf,
    /// Its final path.
    path: PathBuf,
}

/// Runs all jobs, each on a thread of its own, and returns the first error in their order.
fn at_once<J: FnOnce() -> Result<()> + Send>(jobs: impl Iterator<Item = J>) -> Result<()> {
    let mut jobs: Vec<_> = jobs.collect();
    let Some(last) = jobs.pop() else { return Ok(()) };
    std::thread::scope(|scope| {
        let others: Vec<_> = jobs.into_iter().map(|job| scope.spawn(job)).collect();
        let last = last();
        let ended = others.into_iter().map(|other| match other.join() {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        ended.fold(Ok(()), Result::and).and(last)
    })
}
