//! Paths and restores as the contract shows them.

use std::collections::BTreeSet;

use forklore_api::{FilesRestored, NamedPath, WorktreeRemoved, WorktreeState};
use forklore_snapshot::{Change, ChangeKind, LeftOut, Restored, Skipped, SnapshotId};

use crate::{RemovedWorktree, Worktree};

pub(crate) fn left_out(left: &LeftOut) -> NamedPath {
    NamedPath { path: left.path.to_string(), reason: left.reason.as_str().to_owned() }
}

fn skipped(skipped: &Skipped) -> NamedPath {
    NamedPath { path: skipped.path.to_string(), reason: skipped.reason.as_str().to_owned() }
}

pub(crate) fn restored(restored: &Restored, snapshot: SnapshotId) -> FilesRestored {
    FilesRestored {
        before: restored.before.to_string(),
        snapshot: snapshot.to_string(),
        written: restored.written,
        removed: restored.removed,
        skipped: restored.skipped.iter().map(skipped).collect(),
        changes: Vec::new(),
    }
}

/// Returns what a restore would do. It leaves what it skips as it is.
pub(crate) fn planned(
    before: SnapshotId,
    after: SnapshotId,
    changes: &[Change],
    left: &[Skipped],
) -> FilesRestored {
    let left_paths: BTreeSet<_> = left.iter().map(|skipped| &skipped.path).collect();
    let changes: Vec<_> =
        changes.iter().filter(|change| !left_paths.contains(&change.path)).collect();
    let removed = changes.iter().filter(|change| change.kind == ChangeKind::Removed).count();
    FilesRestored {
        before: before.to_string(),
        snapshot: after.to_string(),
        written: (changes.len() - removed) as u64,
        removed: removed as u64,
        skipped: left.iter().map(skipped).collect(),
        changes: changes.into_iter().map(changed).collect(),
    }
}

pub(crate) fn changed(change: &Change) -> NamedPath {
    NamedPath { path: change.path.to_string(), reason: change.kind.as_str().to_owned() }
}

impl From<Worktree> for forklore_api::Worktree {
    fn from(made: Worktree) -> Self {
        let state = match made {
            Worktree { busy: true, .. } => WorktreeState::Busy,
            Worktree { removing: true, .. } => WorktreeState::Removing,
            Worktree { complete: false, .. } => WorktreeState::Unfinished,
            Worktree { missing: true, .. } => WorktreeState::Missing,
            _ => WorktreeState::Ready,
        };
        Self {
            session_id: made.session,
            folder: made.folder,
            state,
            workspace: made.workspace,
            commit: made.commit,
            snapshot: made.snapshot.to_string(),
        }
    }
}

impl From<RemovedWorktree> for WorktreeRemoved {
    fn from(removed: RemovedWorktree) -> Self {
        let snapshot = removed.snapshot.map(|id| id.to_string());
        Self { worktree: removed.worktree.into(), snapshot }
    }
}
