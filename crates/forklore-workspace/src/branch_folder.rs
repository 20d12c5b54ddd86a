//! The folder that was made for a branch.

use std::fs;
use std::path::Path;

use forklore_core::Header;
use forklore_snapshot::SnapshotId;

use crate::worktree::path;
use crate::worktree_record::{Begun, WorktreeRecord};
use crate::{Result, WorkspaceFiles};

/// What is known of the folder of a branch.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct BranchFolder {
    /// The state with which it began, also after its removal.
    pub(crate) began: Option<SnapshotId>,
    /// Its present state, if it is there and complete.
    pub(crate) now: Option<SnapshotId>,
}

impl WorkspaceFiles {
    /// Returns the states of the folder that was made for a branch. A branch without a folder of its
    /// own, such as one that `resume-in` made, works in that of the fork it comes from.
    pub(crate) fn branch_folder(&self, from: &Header, into: &Path) -> Result<BranchFolder> {
        let workspace = Path::new(from.workspace.as_str());
        let workspace = fs::canonicalize(workspace).unwrap_or_else(|_| workspace.to_path_buf());
        let is_in_it = |begun: &Begun| path(&begun.folder) == workspace;
        let record = WorktreeRecord::open(self.folder())?;
        let own = record.made.iter().rfind(|begun| begun.session == from.id);
        let begun = own.or_else(|| record.made.iter().rfind(|begun| is_in_it(begun)));
        let ready = record.present.values().find(|present| {
            let begun = &present.begun;
            let is_ready = present.complete && present.removing.is_none();
            is_ready && (begun.session == from.id || is_in_it(begun))
        });
        let began = begun.map(|begun| begun.snapshot).filter(|&id| self.snapshots.has(id));
        let folder = ready.map(|present| path(&present.begun.folder));
        // Not while the record is locked: a snapshot may take long.
        drop(record);
        let into = fs::canonicalize(into).unwrap_or_else(|_| into.to_path_buf());
        let folder = folder.filter(|folder| folder.is_dir() && *folder != into);
        let take = |folder: &std::path::PathBuf| self.snapshots.take(folder, &self.taking);
        let now = folder.as_ref().map(take).transpose()?.map(|state| state.id);
        Ok(BranchFolder { began, now })
    }
}
