//! The folder that was made for a branch.

use std::fs;
use std::path::Path;

use forklore_core::{Header, SessionId};
use forklore_engine::Engine;
use forklore_snapshot::{LeftOut, SnapshotId};

use crate::users_git;
use crate::worktree::path;
use crate::worktree_record::{Begun, WorktreeRecord};
use crate::{Error, Result, WorkspaceFiles};

/// The folder of a branch.
#[derive(Debug, Clone)]
pub(crate) struct BranchFolder {
    /// The session for which it was made: the branch, or one from which the branch comes.
    pub(crate) made_for: SessionId,
    /// The state with which it began, also after its removal.
    pub(crate) began: Option<SnapshotId>,
    /// Its present state and what that lacks, unless it was removed.
    pub(crate) now: Option<(SnapshotId, Vec<LeftOut>)>,
}

impl WorkspaceFiles {
    /// Returns the folder that was made for a branch. A branch without a folder of its own, such as one
    /// that `resume-in` made, may work in that of a fork from which it comes.
    pub(crate) fn branch_folder(
        &self,
        engine: &Engine,
        from: &Header,
        into: &Path,
    ) -> Result<Option<BranchFolder>> {
        let record = WorktreeRecord::open(self.folder())?;
        let own = record.made.iter().rfind(|begun| begun.session == from.id);
        let workspace = Path::new(from.workspace.as_str());
        let begun = match own {
            Some(own) => Some(own),
            None => {
                let above = engine.lineage(&from.id)?.ancestors;
                let comes_from = |id: &SessionId| above.iter().any(|above| above.session_id == *id);
                let mut in_it = record.made.iter().rev().filter(|it| path(&it.folder) == workspace);
                in_it.find(|begun| comes_from(&begun.session))
            }
        };
        let Some(begun) = begun.cloned() else { return Ok(None) };
        let mut present = record.present.values().rev();
        let present = present.find(|present| present.begun == begun);
        let is_there = present.is_some_and(|it| it.complete && it.removing.is_none());
        // Not while the record is locked: a snapshot may take long.
        drop(record);
        let folder = path(&begun.folder);
        let into = fs::canonicalize(into).unwrap_or_else(|_| into.to_path_buf());
        let now = if is_there && folder != into {
            if !is_still(&begun.clone().with_present_repository()?, &folder)? {
                return Err(Error::NotTheWorktree { folder });
            }
            let state = self.snapshots.take(&folder, &self.taking)?;
            Some((state.id, state.left_out))
        } else {
            None
        };
        let began = Some(begun.snapshot).filter(|&id| self.snapshots.has(id));
        Ok(Some(BranchFolder { made_for: begun.session, began, now }))
    }
}

/// Returns whether what is at the name of a worktree is still that worktree. Another folder there, for
/// example where a disk is not mounted, would look like a branch that removed all files.
fn is_still(begun: &Begun, folder: &Path) -> Result<bool> {
    if !folder.symlink_metadata().is_ok_and(|found| found.is_dir()) {
        return Ok(false);
    }
    match &begun.git {
        Some((repository, _)) => {
            let entries = users_git::entries_of(&path(repository), folder)?;
            Ok(folder.join(".git").is_file() && !entries.is_empty())
        }
        None => Ok(fs::read_dir(folder).is_ok_and(|mut inside| inside.next().is_some())),
    }
}
