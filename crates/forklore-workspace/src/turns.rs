//! The snapshots of sessions that other agents write.
//!
//! An imported session follows its file only while its log has nothing else, so these snapshots are
//! not named in a log. Each session of an agent has a file of JSON lines next to the snapshots.
//! The rules are those of docs/semantics.md, Who takes snapshots.

use std::path::{Path, PathBuf};

use forklore_snapshot::{Snapshot, SnapshotId};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::json_lines::{self, JsonLines};
use crate::snapshot::Named;
use crate::{Result, WorkspaceFiles};

/// The folder of the files.
const FOLDER: &str = "turns";

/// A session of an agent, as the agent names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentSession {
    /// The agent's record format, such as `claude`.
    pub dialect: String,
    /// The id that the agent gave to the session.
    pub native_id: String,
}

/// A snapshot that was taken while an agent worked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Moment {
    pub(crate) at: Timestamp,
    pub(crate) folder: String,
    pub(crate) snapshot: SnapshotId,
    #[serde(default)]
    commit: Option<String>,
    #[serde(default)]
    branch: Option<String>,
}

impl From<Moment> for Named {
    fn from(moment: Moment) -> Self {
        Self {
            snapshot: moment.snapshot.to_string(),
            folder: moment.folder,
            commit: moment.commit,
            branch: moment.branch,
            files: 0,
            bytes: 0,
            left_out: Vec::new(),
            seq: None,
            at: moment.at,
            before: None,
        }
    }
}

impl WorkspaceFiles {
    /// Takes a snapshot of a folder for a session of an agent, which need not be imported yet.
    /// Returns whether the state differs from that of the session's last snapshot.
    ///
    /// # Errors
    /// If the state cannot be recorded.
    pub fn record_moment(&self, session: &AgentSession, folder: &Path) -> Result<bool> {
        // Nothing removes the snapshot before the file names it.
        let _shared = self.snapshots.share()?;
        let state = self.snapshots.take(folder, &self.taking)?;
        self.add_moment(session, folder, &state)
    }

    pub(crate) fn add_moment(
        &self,
        session: &AgentSession,
        folder: &Path,
        state: &Snapshot,
    ) -> Result<bool> {
        let moment = Moment {
            at: Timestamp::now(),
            folder: folder.to_string_lossy().into_owned(),
            snapshot: state.id,
            commit: state.commit.clone(),
            branch: state.branch.clone(),
        };
        let (mut lines, moments) = JsonLines::<Moment>::open(&self.moments_of(session))?;
        let last = moments.into_iter().rfind(|last| last.folder == moment.folder);
        if last.is_some_and(|last| Moment { at: moment.at, ..last } == moment) {
            return Ok(false);
        }
        lines.add(&moment)?;
        Ok(true)
    }

    /// Returns the snapshots of a session of an agent, oldest first. A line that a kill cut short
    /// does not count.
    pub(crate) fn moments(&self, session: &AgentSession) -> Result<Vec<Moment>> {
        json_lines::read(&self.moments_of(session))
    }

    /// Returns the snapshots of all sessions of agents. They are needed as those are which a log
    /// names.
    ///
    /// # Errors
    /// If their files cannot be read.
    pub fn agent_snapshots(&self) -> Result<Vec<SnapshotId>> {
        let files = json_lines::files_in(&self.folder().join(FOLDER))?;
        let moments = files.iter().map(|path| json_lines::read::<Moment>(path));
        let moments = moments.collect::<Result<Vec<_>>>()?.concat();
        Ok(moments.into_iter().map(|moment| moment.snapshot).collect())
    }

    fn moments_of(&self, session: &AgentSession) -> PathBuf {
        let AgentSession { dialect, native_id } = session;
        let name = blake3::hash(format!("{dialect}\n{native_id}").as_bytes()).to_hex();
        self.folder().join(FOLDER).join(format!("{name}.jsonl"))
    }
}
