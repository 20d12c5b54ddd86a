//! Performs a change to several files that is in the journal.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use forklore_store::Result;
use forklore_store::disk::{folder_of, os};

use super::{Pending, Write};
use crate::copy::remove_copies;
use crate::folder::Folder;
use crate::fs::{File, Open};
use crate::log::damage;

/// Maximum number of files of a change that are open at once. They are written one by one, and then
/// all synced at the same time. An import of one session writes this many files. The number is
/// small enough for a process with few free file descriptors.
const FILES_AT_ONCE: usize = 5;

/// A file of a change that was written and is not synced yet.
struct Begun {
    file: Box<dyn File>,
    /// The current path of the file, which may have a temporary name.
    at: PathBuf,
    /// The path of the file after the change.
    path: PathBuf,
}

impl Folder {
    /// Writes the files of a change and makes them durable. Does not remove the files that the
    /// change deletes. A file gets its name only after all files are written. A full disk therefore
    /// leaves every file that the change replaces as it was.
    pub(super) fn write_all(&self, pending: &Pending) -> Result<()> {
        let mut unnamed = Vec::new();
        let done = self.write_contents(pending, &mut unnamed);
        let done = done.and_then(|()| self.name_all(&unnamed));
        if done.is_err() {
            for (at, _) in &unnamed {
                let _ = self.fs.remove(at);
            }
        }
        done
    }

    /// Writes and syncs the content of all files of a change, except those that the change deletes.
    /// Handles [`FILES_AT_ONCE`] files at a time: writes them one after another and then syncs them
    /// in parallel. Each sync waits until the disk has written the data of all these files. Syncs
    /// one after another would wait that long once per file. Adds the temporary and the final names
    /// of new files to `unnamed`.
    fn write_contents(
        &self,
        pending: &Pending,
        unnamed: &mut Vec<(PathBuf, PathBuf)>,
    ) -> Result<()> {
        let writes: Vec<_> = pending.pending.iter().filter(|write| write.tail.is_some()).collect();
        for writes in writes.chunks(FILES_AT_ONCE) {
            let mut begun = Vec::with_capacity(writes.len());
            for write in writes {
                let new = self.begin(write)?;
                let name = new.as_ref().filter(|new| new.at != new.path);
                unnamed.extend(name.map(|new| (new.at.clone(), new.path.clone())));
                begun.extend(new);
            }
            at_once(begun.iter().map(|begun| || self.sync(&*begun.file, &begun.at)))?;
        }
        Ok(())
    }

    /// Renames files to their final names and syncs their folders, each folder once.
    fn name_all(&self, unnamed: &[(PathBuf, PathBuf)]) -> Result<()> {
        for (at, path) in unnamed {
            self.fs.rename(at, path).map_err(os("renaming", at))?;
        }
        let folders: BTreeSet<_> = unnamed.iter().map(|(_, path)| folder_of(path)).collect();
        let folders: Vec<_> = folders.into_iter().collect();
        let sync =
            |folders: &[&Path]| at_once(folders.iter().map(|folder| || self.sync_folder(folder)));
        folders.chunks(FILES_AT_ONCE).try_for_each(sync)
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
    ///
    /// If the change takes content away, first removes all unfinished copies. All files are written
    /// anew by now: a copy that begins later reads the new ones, and an older one may contain the
    /// old content. If this process is killed before, the next one finds the journal and does it.
    pub(super) fn remove_all(&self, pending: &Pending) -> Result<()> {
        if pending.outdates_copies {
            remove_copies(self)?;
        }
        let mut folders = BTreeSet::new();
        for write in pending.pending.iter().filter(|write| write.tail.is_none()) {
            let path = self.path_of(write)?;
            self.remove(&path)?;
            folders.insert(folder_of(&path).to_owned());
        }
        folders.iter().try_for_each(|folder| self.sync_folder(folder))?;
        self.forget_pending()
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
