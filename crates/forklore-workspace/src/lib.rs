//! Conversation and files as one unit (docs/semantics.md, Snapshots).
//!
//! [`WorkspaceFiles`] has the verbs: `snapshot` records the state of a folder in a session, `rewind`
//! takes conversation and files back to a position, and `undo` takes a rewind back.

mod error;
mod followed;
mod named;
mod position;
mod project;
mod record;
mod rewind;
mod snapshot;
mod turns;
mod undo;

use std::path::{Path, PathBuf};

use forklore_snapshot::{Snapshots, Taking};

pub use self::error::{Error, Result};
pub use self::project::project_folder;
pub use self::rewind::Rewind;
pub use self::turns::AgentSession;
pub use forklore_snapshot as snapshots;

/// The snapshots that belong to a store, and the verbs that need them.
#[derive(Debug)]
pub struct WorkspaceFiles {
    snapshots: Snapshots,
    folder: PathBuf,
    taking: Taking,
}

impl WorkspaceFiles {
    /// Opens the snapshots in a folder, and creates it if it does not exist. `without` are absolute
    /// paths that belong to no workspace, such as the store.
    ///
    /// # Errors
    /// If the program `git` is missing, or the folder cannot be created.
    pub fn open(folder: &Path, without: Vec<PathBuf>) -> Result<Self> {
        let snapshots = Snapshots::open(folder)?;
        let taking = Taking { without, ..Taking::default() };
        Ok(Self { snapshots, folder: folder.to_path_buf(), taking })
    }

    /// Returns the folder of the snapshots.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}
