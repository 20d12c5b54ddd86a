//! The record of the rewinds of each folder, from which `undo` reads.
//!
//! It is a file of JSON lines next to the snapshots. A rewind is recorded before it touches a file.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use bstr::BString;
use forklore_core::SessionId;
use forklore_core::operation::OperationId;
use forklore_snapshot::SnapshotId;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::Result;
use crate::json_lines::{self, JsonLines};

/// The folder of the records.
const FOLDER: &str = "rewinds";

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
    /// What a merge of files brought.
    #[serde(default)]
    pub(crate) brought: Option<BroughtState>,
}

/// The state of a branch that was merged into a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BroughtState {
    /// The session for which the folder of the branch was made, or the branch.
    pub(crate) from: SessionId,
    pub(crate) state: SnapshotId,
}

/// What a rewind did to the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Files {
    pub(crate) before: SnapshotId,
    pub(crate) after: SnapshotId,
}

/// The record of one folder. No other process changes it meanwhile.
#[derive(Debug)]
pub(crate) struct Record {
    lines: JsonLines<Entry>,
    pub(crate) entries: Vec<Entry>,
}

impl Record {
    /// Returns whether there is a record, which may be empty.
    pub(crate) fn exists(folder: &Path, key: &str) -> bool {
        path_of(folder, key).exists()
    }

    /// Reads the record, and waits until no other process has it.
    pub(crate) fn open(folder: &Path, key: &str) -> Result<Self> {
        let (lines, entries) = JsonLines::open(&path_of(folder, key))?;
        Ok(Self { lines, entries })
    }

    /// Adds an entry and returns its number. It is on the disk then.
    pub(crate) fn add(&mut self, entry: Entry) -> Result<u64> {
        self.lines.add(&entry)?;
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

/// Returns the snapshots that undos need: those of the rewinds and undos since a time, and those of
/// the last one of each folder, however old it is.
pub(crate) fn needed_by_undo(folder: &Path, since: Timestamp) -> Result<BTreeSet<SnapshotId>> {
    let mut needed = BTreeSet::new();
    for path in json_lines::files_in(&folder.join(FOLDER))? {
        let entries: Vec<Entry> = json_lines::read(&path)?;
        let with_files = entries.iter().filter_map(|entry| Some((entry, entry.files?)));
        let last = with_files.clone().next_back();
        for (entry, files) in with_files.filter(|(entry, _)| entry.at >= since).chain(last) {
            needed.extend([files.before, files.after]);
            // The next merge of the branch begins with it.
            needed.extend(entry.brought.as_ref().map(|brought| brought.state));
        }
    }
    Ok(needed)
}

fn path_of(folder: &Path, key: &str) -> PathBuf {
    folder.join(FOLDER).join(format!("{key}.jsonl"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(undoes: Option<u64>) -> Entry {
        let session = "work".parse().unwrap();
        let at = "2026-01-02T03:04:05Z".parse().unwrap();
        Entry {
            at,
            session,
            fork: None,
            operation: None,
            files: None,
            paths: Vec::new(),
            undoes,
            brought: None,
        }
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
