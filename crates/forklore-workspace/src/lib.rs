//! Conversation and files as one unit (docs/semantics.md, Snapshots).
//!
//! [`WorkspaceFiles`] has the verbs: `snapshot` records the state of a folder in a session, `rewind`
//! takes conversation and files back to a position, `fork_into` gives a fork a folder of its own,
//! `bring` merges the files of a branch into a folder, and `undo` takes a rewind or a merge back;
//! `diff` compares two states, `show` tells what a snapshot has, and `collect` removes those that
//! nothing needs.

mod belonging;
mod branch_folder;
mod bring;
mod collect;
mod error;
mod followed;
mod fork;
mod json_lines;
mod merge_base;
mod named;
mod pending;
mod position;
mod project;
mod record;
mod rewind;
mod snapshot;
mod state;
mod timeline;
mod turns;
mod undo;
mod users_commits;
mod users_git;
mod worktree;
mod worktree_losses;
mod worktree_record;
mod worktree_removal;

use std::path::{Path, PathBuf};

use forklore_snapshot::{Snapshots, Taking};

pub use self::belonging::Belonging;
pub use self::bring::PlannedBring;
pub use self::error::{Error, Result};
pub use self::project::project_folder;
pub use self::rewind::Rewind;
pub use self::state::{Diffed, Moment};
pub use self::turns::AgentSession;
pub use self::worktree::{NewWorktree, Worktree};
pub use self::worktree_removal::RemovedWorktree;
pub use forklore_snapshot as snapshots;

/// The snapshots that belong to a store, and the verbs that need them.
#[derive(Debug)]
pub struct WorkspaceFiles {
    snapshots: Snapshots,
    folder: PathBuf,
    taking: Taking,
}

impl WorkspaceFiles {
    /// Opens the snapshots in a folder. The first snapshot creates it. `without` are absolute paths
    /// that belong to no workspace, such as the store.
    #[must_use]
    pub fn open(folder: &Path, without: Vec<PathBuf>) -> Self {
        let snapshots = Snapshots::at(folder);
        let taking = Taking { without, ..Taking::default() };
        Self { snapshots, folder: folder.to_path_buf(), taking }
    }

    /// Refuses snapshots with which all of them could have more bytes than `max_size`.
    #[must_use]
    pub fn limited_to(mut self, max_size: Option<u64>) -> Self {
        self.taking.max_size = max_size;
        self
    }

    /// Returns the folder of the snapshots.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}
