//! The record of the worktrees of a store: a file of JSON lines next to the snapshots.
//!
//! A line is written before the folder is made, and one when it is complete, so that what a kill
//! leaves behind is listed.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};

use bstr::BString;
use forklore_core::SessionId;
use forklore_snapshot::SnapshotId;
use serde::{Deserialize, Serialize};

use crate::error::failed;
use crate::json_lines::JsonLines;
use crate::worktree::{bytes, path};
use crate::{Error, Result, users_git};

/// What happened to a worktree. Its number is that of the line that made it, from 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Line {
    Begun(Begun),
    Complete {
        number: u64,
    },
    Removing {
        number: u64,
        snapshot: Option<SnapshotId>,
        /// Where the folder will be while it is deleted.
        #[serde(default)]
        aside: Option<BString>,
    },
    Moved {
        number: u64,
    },
    Removed {
        number: u64,
    },
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

impl Begun {
    /// Returns the worktree with the present path of its repository, which the user may have moved: a
    /// clone may be at its old name. If the folder is gone, nothing else is known.
    pub(crate) fn with_present_repository(mut self) -> Result<Self> {
        let folder = path(&self.folder);
        let Some((repository, commit)) = &mut self.git else { return Ok(self) };
        if !folder.join(".git").is_file() {
            return Ok(self);
        }
        let recorded = path(repository);
        match users_git::repository(&folder) {
            Some((_, found)) if users_git::has_commit(&found, commit) => {
                *repository = bytes(&found);
                Ok(self)
            }
            _ if recorded.exists() => Ok(self),
            _ => Err(Error::NoRepository { folder, repository: recorded }),
        }
    }
}

/// A worktree that was not removed.
#[derive(Debug, Clone)]
pub(crate) struct Present {
    pub(crate) begun: Begun,
    pub(crate) complete: bool,
    /// A removal that was not completed.
    pub(crate) removing: Option<Removal>,
}

/// A removal that was begun.
#[derive(Debug, Clone, Default)]
pub(crate) struct Removal {
    /// The last state of the files; `None` if the folder was missing.
    pub(crate) snapshot: Option<SnapshotId>,
    /// Where the folder is while it is deleted. `None` in the records of early versions, which
    /// deleted it under its own name.
    pub(crate) aside: Option<BString>,
    /// Whether the folder was moved there.
    pub(crate) moved: bool,
}

/// The open record. No other process changes it meanwhile.
#[derive(Debug)]
pub(crate) struct WorktreeRecord {
    folder: PathBuf,
    record: JsonLines<Line>,
    lines: u64,
    pub(crate) present: BTreeMap<u64, Present>,
    /// The worktrees that were completed, also those that are gone.
    pub(crate) made: Vec<Begun>,
}

impl WorktreeRecord {
    pub(crate) fn exists(folder: &Path) -> bool {
        folder.join("worktrees").exists()
    }

    pub(crate) fn open(folder: &Path) -> Result<Self> {
        let folder = folder.join("worktrees");
        let (record, lines) = JsonLines::open(&folder.join("record.jsonl"))?;
        let (present, made) = (BTreeMap::new(), Vec::new());
        let mut opened = Self { folder, record, lines: 0, present, made };
        lines.into_iter().for_each(|line| opened.apply(line));
        Ok(opened)
    }

    /// Adds a line and returns its number. It is on the disk then.
    pub(crate) fn add(&mut self, line: Line) -> Result<u64> {
        self.record.add(&line)?;
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
                    self.made.push(present.begun.clone());
                }
            }
            Line::Removing { number, snapshot, aside } => {
                if let Some(present) = self.present.get_mut(&number) {
                    present.removing = Some(Removal { snapshot, aside, moved: false });
                }
            }
            Line::Moved { number } => {
                let present = self.present.get_mut(&number);
                if let Some(removal) = present.and_then(|present| present.removing.as_mut()) {
                    removal.moved = true;
                }
            }
            Line::Removed { number } => {
                self.present.remove(&number);
            }
        }
    }

    /// Records that a worktree was removed, and removes the files whose locks nobody needs any more.
    pub(crate) fn add_removed(&mut self, number: u64) -> Result<()> {
        self.add(Line::Removed { number })?;
        let folder = &self.folder;
        for entry in fs::read_dir(folder).map_err(failed("read", folder))? {
            let path = entry.map_err(failed("read", folder))?.path();
            let of = path.file_stem().and_then(|name| name.to_str()?.parse().ok());
            let is_lock = path.extension().is_some_and(|kind| kind == "lock");
            if is_lock && of.is_some_and(|number: u64| !self.present.contains_key(&number)) {
                fs::remove_file(&path).map_err(failed("remove", &path))?;
            }
        }
        Ok(())
    }

    /// Opens the file whose lock a process has while it makes or removes the worktree.
    pub(crate) fn lock_of(&self, number: u64) -> Result<File> {
        let path = self.folder.join(format!("{number}.lock"));
        let file = OpenOptions::new().create(true).append(true).open(&path);
        file.map_err(failed("open", &path))
    }
}
