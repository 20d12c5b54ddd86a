//! The record of the worktrees of a store: a file of JSON lines next to the snapshots.
//!
//! A line is written before the folder is made, and one when it is complete, so that what a kill
//! leaves behind is listed.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use bstr::BString;
use forklore_core::SessionId;
use forklore_snapshot::SnapshotId;
use serde::{Deserialize, Serialize};

use crate::Result;
use crate::record::failed;

/// What happened to a worktree. Its number is that of the line that made it, from 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Line {
    Begun(Begun),
    Complete { number: u64 },
    Removing { number: u64, snapshot: Option<SnapshotId> },
    Removed { number: u64 },
}

/// A worktree that is to be made. Paths are bytes, because they may not be UTF-8.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Begun {
    pub(crate) session: SessionId,
    pub(crate) workspace: BString,
    pub(crate) folder: BString,
    pub(crate) snapshot: SnapshotId,
    /// The folder of the user's repository and the commit, if it is a work tree of git.
    pub(crate) git: Option<(BString, String)>,
}

/// A worktree that was not removed.
#[derive(Debug, Clone)]
pub(crate) struct Present {
    pub(crate) begun: Begun,
    pub(crate) complete: bool,
    /// The snapshot that a removal took that was not completed.
    pub(crate) removing: Option<SnapshotId>,
}

/// The open record. No other process changes it meanwhile.
#[derive(Debug)]
pub(crate) struct WorktreeRecord {
    folder: PathBuf,
    path: PathBuf,
    file: File,
    lines: u64,
    pub(crate) present: BTreeMap<u64, Present>,
}

impl WorktreeRecord {
    pub(crate) fn open(folder: &Path) -> Result<Self> {
        let folder = folder.join("worktrees");
        fs::create_dir_all(&folder).map_err(failed("create", &folder))?;
        let path = folder.join("record.jsonl");
        let file = OpenOptions::new().create(true).append(true).read(true).open(&path);
        let file = file.map_err(failed("open", &path))?;
        file.lock().map_err(failed("lock", &path))?;
        let text = fs::read(&path).map_err(failed("read", &path))?;
        let whole = text.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        if whole < text.len() {
            // A kill cut the last line short.
            file.set_len(whole as u64).map_err(failed("repair", &path))?;
        }
        let mut record = Self { folder, path, file, lines: 0, present: BTreeMap::new() };
        let lines = text.get(..whole).unwrap_or_default().split(|&byte| byte == b'\n');
        for line in lines.filter(|line| !line.is_empty()) {
            let line = serde_json::from_slice(line).map_err(io::Error::other);
            record.apply(line.map_err(failed("read", &record.path))?);
        }
        Ok(record)
    }

    /// Adds a line and returns its number. It is on the disk then.
    pub(crate) fn add(&mut self, line: Line) -> Result<u64> {
        let text = serde_json::to_string(&line).map_err(io::Error::other);
        let written = text.and_then(|text| {
            self.file.write_all(format!("{text}\n").as_bytes())?;
            self.file.sync_data()
        });
        written.map_err(failed("write", &self.path))?;
        self.apply(line);
        Ok(self.lines)
    }

    fn apply(&mut self, line: Line) {
        self.lines += 1;
        match line {
            Line::Begun(begun) => {
                let present = Present { begun, complete: false, removing: None };
                self.present.insert(self.lines, present);
            }
            Line::Complete { number } => {
                if let Some(present) = self.present.get_mut(&number) {
                    present.complete = true;
                }
            }
            Line::Removing { number, snapshot } => {
                if let Some(present) = self.present.get_mut(&number) {
                    present.removing = snapshot;
                }
            }
            Line::Removed { number } => {
                self.present.remove(&number);
            }
        }
    }

    /// Opens the file whose lock a process has while it makes or removes the worktree.
    pub(crate) fn lock_of(&self, number: u64) -> Result<File> {
        let path = self.folder.join(format!("{number}.lock"));
        let file = OpenOptions::new().create(true).append(true).open(&path);
        file.map_err(failed("open", &path))
    }
}
