//! Changes to several files. The whole change is first written to a journal. Then the files are
//! changed, and the journal is removed.
//!
//! A process that finds a journal first performs the change in it again. Performing a change twice
//! has the same result as performing it once.

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

/// Maximum number of files of a change that are open at once. They are written one by one, and then
/// all synced at the same time. An import of one session changes about this many files. A process
/// with few free file descriptors can still open as many.
const FILES_AT_ONCE: usize = 4;

#[derive(Debug, Serialize, Deserialize)]
struct Pending {
    forklore: u32,
    pending: Vec<Write>,
}

/// The change to one file, as the journal stores it. `file` is the path of the file in the store's
/// folder.
#[derive(Debug, Serialize, Deserialize)]
struct Write {
    file: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "keep")]
    retain: Option<u64>,
    /// Whether the file does not exist before the change.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    new: bool,
    /// The bytes that replace those after the first `retain` bytes of the file. `None` if the
    /// change removes the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tail: Option<Tail>,
}

/// Bytes as JSON: a string if they are UTF-8, otherwise hexadecimal digits. Invalid UTF-8 occurs,
/// for example, in the saved end of a damaged session file.
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
    /// Runs `step`, which may change several files of the store. All its changes become durable
    /// together, or none if it fails.
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

    /// Undoes a change to several files that failed, e.g. because the disk is full. If that fails
    /// too, or if a sync has failed, the journal remains for the next process.
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

    /// Checks whether a journal of a change to several files exists. If so, the change is running
    /// or its process was killed.
    pub(crate) fn is_pending(&self) -> Result<bool> {
        Ok(self.open(&self.layout.pending(), Open::Read)?.is_some())
    }

    /// Completes the change to several files that a killed process left in the journal, and removes
    /// the journal. Does nothing without a journal.
    pub(crate) fn finish_pending(&self) -> Result<()> {
        match self.pending()? {
            Some(pending) => {
                // The killed process announced its writes in the feed and cannot record their end.
                // So report that any session may have changed.
                let done = self.finish(&pending);
                done.and_then(|()| self.feed.everything())
            }
            None if self.is_pending()? => self.forget_pending(),
            None => Ok(()),
        }
    }

    /// Reads the journal of a change to several files. Returns `None` if there is none, or if it is
    /// empty because its change is complete.
    ///
    /// # Errors
    /// `Corrupt` if the journal cannot be read; `Unsupported` if a newer version of forklore wrote
    /// it.
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

    /// Checks that the journal of a change to several files can be read, if there is one.
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

    /// Writes a few files, syncs them and renames them to their final names. The syncs run at the
    /// same time. One after the other would take longer, because the sync of one file may also wait
    /// for the data of the others.
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

    /// Writes one file of a change without a sync. A file that is new or replaced as a whole gets a
    /// temporary name. Returns `None` if the change removes the file.
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

    /// Removes the files that a change to several files deletes, and then the journal. After that
    /// the change cannot be undone.
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

    /// Empties the journal, syncs it and then removes it. After a power failure a removed file may
    /// exist again. A process that finds a journal with content would perform its change a second
    /// time and overwrite later writes. An empty journal is harmless.
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

    /// Replaces the bytes of a file after the first `retained` ones by `tail`. Returns the open
    /// file, not synced.
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

/// A file of a change that was written and is not synced yet.
struct Begun {
    file: Box<dyn File>,
    /// The current path of the file, which may have a temporary name.
    at: PathBuf,
    /// The path of the file after the change.
    path: PathBuf,
}

/// Runs all jobs at the same time, each on its own thread. If several fail, returns the error of
/// the one that comes first in `jobs`.
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
