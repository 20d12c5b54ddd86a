//! The record of the rewinds of each folder, from which `undo` reads.
//!
//! It is a file of JSON lines next to the snapshots. A rewind is recorded before it touches a file.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use bstr::BString;
use forklore_core::SessionId;
use forklore_core::operation::OperationId;
use forklore_snapshot::SnapshotId;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// A rewind or an undo in a folder. Its number is that of its line, from 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub(crate) at: Timestamp,
    /// The session that was taken back.
    pub(crate) session: SessionId,
    /// The fork in which the conversation goes on.
    pub(crate) fork: Option<SessionId>,
    /// The operation that made the fork, or that put it into the trash.
    pub(crate) operation: Option<OperationId>,
    /// The states of the files before and after, if they were restored.
    pub(crate) files: Option<Files>,
    /// The paths to which the restore was limited; none for all.
    #[serde(default)]
    pub(crate) paths: Vec<BString>,
    /// The number of the entry that this one takes back.
    pub(crate) undoes: Option<u64>,
}

/// What a rewind did to the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Files {
    pub(crate) before: SnapshotId,
    pub(crate) after: SnapshotId,
}

/// The record of one folder.
#[derive(Debug)]
pub(crate) struct Record {
    path: PathBuf,
    pub(crate) entries: Vec<Entry>,
    /// The open file. Its lock lets no other process change the record meanwhile.
    file: File,
}

impl Record {
    /// Reads the record, and waits until no other process has it. A last line that was cut short by
    /// a kill does not count.
    pub(crate) fn open(folder: &Path, key: &str) -> Result<Self> {
        let folder = folder.join("rewinds");
        fs::create_dir_all(&folder).map_err(failed("create", &folder))?;
        let path = folder.join(format!("{key}.jsonl"));
        let lock = OpenOptions::new().create(true).append(true).read(true).open(&path);
        let lock = lock.map_err(failed("open", &path))?;
        lock.lock().map_err(failed("lock", &path))?;
        let text = fs::read(&path).map_err(failed("read", &path))?;
        let whole = text.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        if whole < text.len() {
            lock.set_len(whole as u64).map_err(failed("repair", &path))?;
        }
        let lines = text.get(..whole).unwrap_or_default();
        let lines = lines.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        let entries = lines.map(serde_json::from_slice).collect::<Result<_, _>>();
        let entries = entries.map_err(io::Error::other).map_err(failed("read", &path))?;
        Ok(Self { path, entries, file: lock })
    }

    /// Adds an entry and returns its number. It is on the disk then.
    pub(crate) fn add(&mut self, entry: Entry) -> Result<u64> {
        let line = serde_json::to_string(&entry).map_err(io::Error::other);
        let written = line.and_then(|line| {
            self.file.write_all(format!("{line}\n").as_bytes())?;
            self.file.sync_data()
        });
        written.map_err(failed("write", &self.path))?;
        self.entries.push(entry);
        Ok(self.entries.len() as u64)
    }

    /// Returns an entry by its number.
    pub(crate) fn entry(&self, number: u64) -> Option<&Entry> {
        let at = usize::try_from(number).ok()?.checked_sub(1)?;
        self.entries.get(at)
    }

    /// Returns the number of the entry that took another one back.
    pub(crate) fn undone_by(&self, number: u64) -> Option<u64> {
        let undo = |entry: &Entry| entry.undoes == Some(number);
        let by = self.entries.iter().rposition(undo)? as u64 + 1;
        // An undo that was itself undone does not count.
        if self.undone_by(by).is_some() { None } else { Some(by) }
    }

    /// Returns the number of the latest entry that is no undo and was not taken back.
    pub(crate) fn latest(&self) -> Option<u64> {
        let mut numbers = (1..=self.entries.len() as u64).rev();
        numbers.find(|&number| {
            self.entry(number).is_some_and(|entry| entry.undoes.is_none())
                && self.undone_by(number).is_none()
        })
    }
}

pub(crate) fn failed(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_path_buf();
    move |source| Error::Record { what, path, source }
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;

    use super::*;

    fn entry(undoes: Option<u64>) -> Entry {
        let session = "work".parse().unwrap();
        let at = "2026-01-02T03:04:05Z".parse().unwrap();
        Entry { at, session, fork: None, operation: None, files: None, paths: Vec::new(), undoes }
    }

    #[test]
    fn a_line_that_a_kill_cut_short_does_not_count() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rewinds/key.jsonl");
        let mut record = Record::open(folder.path(), "key").unwrap();
        assert_eq!(record.add(entry(None)).unwrap(), 1);
        drop(record);
        let mut file = OpenOptions::new().append(true).open(path).unwrap();
        file.write_all(b"{\"at\":\"2026").unwrap();
        let mut record = Record::open(folder.path(), "key").unwrap();
        assert_eq!(record.entries, [entry(None)]);
        assert_eq!(record.add(entry(Some(1))).unwrap(), 2);
        drop(record);
        let record = Record::open(folder.path(), "key").unwrap();
        assert_eq!(record.entries, [entry(None), entry(Some(1))]);
    }

    #[test]
    fn an_undo_that_was_undone_takes_nothing_back() {
        let folder = tempfile::tempdir().unwrap();
        let mut record = Record::open(folder.path(), "key").unwrap();
        let seen = [None, None, Some(2), Some(3), Some(2)].map(|undoes| {
            record.add(entry(undoes)).unwrap();
            record.latest()
        });
        assert_eq!(seen, [Some(1), Some(2), Some(1), Some(2), Some(1)]);
        assert_eq!((record.undone_by(2), record.undone_by(3)), (Some(5), Some(4)));
    }
}
