//! Undoes a change to several files that failed.

use std::path::PathBuf;

use forklore_store::Result;
use forklore_store::disk::os;

use crate::folder::Folder;
use crate::fs::Open;

/// The bytes of a file that a change overwrites, for undoing the change. They are only in memory.
/// If this process is killed, the next one performs the change from the journal and does not undo
/// it.
#[derive(Debug)]
pub(super) struct Before {
    path: PathBuf,
    /// The number of bytes at the beginning of the file that the change does not overwrite.
    retained: u64,
    /// The bytes of the old file after the first `retained` ones. `None` if the file does not exist
    /// before the change.
    tail: Option<Vec<u8>>,
}

impl Before {
    /// Reads the bytes of the file at `path` after the first `retained` ones, before a change
    /// overwrites them.
    pub(super) fn read(folder: &Folder, path: PathBuf, retained: u64) -> Result<Self> {
        let Some(file) = folder.open(&path, Open::Read)? else {
            return Ok(Self { path, retained, tail: None });
        };
        let len = file.len().map_err(os("reading", &path))?;
        let mut tail = vec![0; usize::try_from(len.saturating_sub(retained)).unwrap_or_default()];
        let read = file.read_at(&mut tail, retained).map_err(os("reading", &path))?;
        tail.truncate(read);
        Ok(Self { path, retained, tail: Some(tail) })
    }

    /// Checks whether the change would write the bytes that the file already has. `tail` are the
    /// bytes that it would write after the first `retained` ones.
    pub(super) fn is_left_as_it_is(&self, tail: &[u8]) -> bool {
        self.tail.as_deref() == Some(tail)
    }

    /// Checks whether the change only adds bytes. Undoing it then needs no space on the disk.
    fn only_grows(&self) -> bool {
        self.tail.as_ref().is_none_or(|tail| self.retained > 0 && tail.is_empty())
    }

    fn restore(&self, folder: &Folder) -> Result<()> {
        let path = &self.path;
        let Some(tail) = &self.tail else {
            return folder.remove(path).and_then(|()| folder.sync_name(path));
        };
        if self.retained == 0 {
            // The change may have failed before it replaced this file.
            let stays = folder.read(path)?.is_some_and(|found| found == *tail);
            return if stays { Ok(()) } else { folder.put(path, tail) };
        }
        let file = folder.fs.open(path, Open::Write).map_err(os("opening", path))?;
        if file.len().map_err(os("reading", path))? > self.retained {
            file.set_len(self.retained).map_err(os("cutting back", path))?;
        }
        folder.write(&*file, path, tail, self.retained)?;
        folder.sync(&*file, path)
    }
}

impl Folder {
    /// Undoes a change to several files that failed, e.g. because the disk is full. If that fails
    /// too, or if a sync has failed, the journal remains for the next process.
    pub(super) fn take_back(&self, before: &[Before]) {
        if self.check_sound().is_err() {
            return;
        }
        // First restore what frees space on the disk.
        let grown = before.iter().filter(|file| file.only_grows());
        let overwritten = before.iter().filter(|file| !file.only_grows());
        let undone = grown.chain(overwritten).try_for_each(|file| file.restore(self));
        if undone.is_ok() && self.check_sound().is_ok() {
            let _ = self.forget_pending();
        }
    }
}
