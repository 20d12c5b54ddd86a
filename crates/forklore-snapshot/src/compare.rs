//! Compares two snapshots.

mod lines;

pub use self::lines::{ChangedLines, Lines, Most};

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::{self, BufRead as _, Write};
use std::os::unix::ffi::OsStrExt;

use bstr::{BStr, BString, ByteSlice};

use crate::about::About;
use crate::contents::read_all;
use crate::git::not_started;
use crate::objects::{self, Difference};
use crate::selection::selects;
use crate::{Result, SnapshotId, Snapshots};

/// A path that differs between two snapshots.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The path, relative to the workspace. It need not be UTF-8.
    pub path: BString,
    /// What happened to it.
    pub kind: ChangeKind,
}

/// How a path differs between two snapshots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChangeKind {
    /// Only the later one has it.
    Added,
    /// Only the earlier one has it.
    Removed,
    /// Its contents or its type differ.
    Modified,
    /// Only its permissions differ.
    Mode,
}

impl ChangeKind {
    /// Returns the name of the kind, one word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Modified => "modified",
            Self::Mode => "mode",
        }
    }
}

impl Snapshots {
    /// Returns the files and links that differ between two snapshots, by path.
    ///
    /// # Errors
    /// If a snapshot is missing or git fails.
    pub fn compare(&self, before: SnapshotId, after: SnapshotId) -> Result<Vec<Change>> {
        let git = self.git();
        let (old, new) = (objects::about(git, before)?, objects::about(git, after)?);
        let found = objects::differences(git, Some(before), Some(after))?;
        let mut changes: BTreeMap<_, _> = found.into_iter().map(kind_of).collect();
        if !old.has_modes_of(&new) {
            for (path, after) in objects::entries(git, after)? {
                let mode = |about: &About| about.mode(&path, after.executable);
                if mode(&old) != mode(&new) && !after.is_link {
                    changes.entry(path).or_insert(ChangeKind::Mode);
                }
            }
        }
        Ok(changes.into_iter().map(|(path, kind)| Change { path, kind }).collect())
    }

    /// Returns the contents of a file of a snapshot, or where a link leads, or nothing if the
    /// snapshot has no such path.
    ///
    /// # Errors
    /// If the snapshot is missing or git fails.
    pub fn contents(&self, id: SnapshotId, path: &BStr) -> Result<Option<Vec<u8>>> {
        let mut contents = Vec::new();
        let copied = self.copy_contents(id, path, &mut contents)?;
        Ok(copied.map(|_| contents))
    }

    /// Writes the contents of a file of a snapshot, or where a link leads. Returns what became of
    /// the writing, or nothing if the snapshot has no such path.
    ///
    /// # Errors
    /// If the snapshot is missing or git fails.
    pub fn copy_contents(
        &self,
        id: SnapshotId,
        path: &BStr,
        to: &mut dyn Write,
    ) -> Result<Option<io::Result<()>>> {
        objects::about(self.git(), id)?;
        let Some(entry) = objects::entries(self.git(), id)?.remove(path) else { return Ok(None) };
        let failed = |error: io::Error| self.git().failed("cat-file", error.to_string().as_bytes());
        let mut written = Ok(());
        read_all(self.git(), &[&entry.blob], |contents| {
            loop {
                let part = contents.fill_buf().map_err(failed)?;
                let length = part.len();
                if length == 0 {
                    return Ok(());
                }
                written = to.write_all(part);
                if written.is_err() {
                    return Ok(());
                }
                contents.consume(length);
            }
        })?;
        Ok(Some(written))
    }

    /// Returns whether a snapshot has a file, a link or a folder at a path.
    ///
    /// # Errors
    /// If the snapshot is missing or git fails.
    pub fn has_path(&self, id: SnapshotId, path: &BStr) -> Result<bool> {
        let about = objects::about(self.git(), id)?;
        if about.folders.keys().any(|folder| selects(&[path.into()], folder.as_bstr())) {
            return Ok(true);
        }
        let mut object = objects::files(self.git(), id)?.into_bytes();
        object.push(b':');
        object.extend_from_slice(path);
        let mut git = self.git().command("cat-file");
        let done = git.arg("-e").arg(OsStr::from_bytes(&object)).output();
        let done = done.map_err(|source| not_started(source, self.git().folder()))?;
        Ok(done.status.success())
    }
}

/// Returns what happened to a path.
fn kind_of(found: Difference) -> (BString, ChangeKind) {
    let kind = match (&found.before, &found.after) {
        (None, _) => ChangeKind::Added,
        (_, None) => ChangeKind::Removed,
        (Some(before), Some(after)) if before.has_contents_of(after) => ChangeKind::Mode,
        _ => ChangeKind::Modified,
    };
    (found.path, kind)
}
