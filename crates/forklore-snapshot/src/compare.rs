//! Compares two snapshots.

use std::collections::BTreeMap;

use bstr::{BStr, BString};

use crate::about::About;
use crate::objects::{self, Contents, Difference};
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
        objects::about(self.git(), id)?;
        let Some(entry) = objects::entries(self.git(), id)?.remove(path) else { return Ok(None) };
        let mut contents = Vec::new();
        Contents::of(self.git())?.read(&entry.blob, |reader| {
            std::io::Read::read_to_end(reader, &mut contents)
                .map(drop)
                .map_err(|error| self.git().failed("cat-file", error.to_string().as_bytes()))
        })?;
        Ok(Some(contents))
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
