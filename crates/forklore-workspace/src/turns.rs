//! The snapshots of sessions that other agents write.
//!
//! An imported session follows its file only while its log has nothing else, so these snapshots are
//! not named in a log. Each session of an agent has a file of JSON lines next to the snapshots.
//! The rules are those of docs/semantics.md, Who takes snapshots.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use forklore_snapshot::{Snapshot, SnapshotId};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::record::failed;
use crate::snapshot::Named;
use crate::{Result, WorkspaceFiles};

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
        let last = self.moments(session)?.into_iter().rfind(|last| last.folder == moment.folder);
        if last.is_some_and(|last| Moment { at: moment.at, ..last } == moment) {
            return Ok(false);
        }
        let path = self.moments_of(session);
        let line = serde_json::to_string(&moment).map_err(io::Error::other);
        let written = line.and_then(|line| {
            path.parent().map_or(Ok(()), fs::create_dir_all)?;
            let mut file = OpenOptions::new().create(true).append(true).read(true).open(&path)?;
            file.lock()?;
            // A line that a kill cut short is ended first.
            let end = if is_cut_short(&mut file)? { "\n" } else { "" };
            file.write_all(format!("{end}{line}\n").as_bytes())?;
            file.sync_data()
        });
        written.map_err(failed("write", &path))?;
        Ok(true)
    }

    /// Returns the snapshots of a session of an agent, oldest first. A line that a kill cut short
    /// does not count.
    pub(crate) fn moments(&self, session: &AgentSession) -> Result<Vec<Moment>> {
        read(&self.moments_of(session))
    }

    /// Returns the snapshots of all sessions of agents. They are needed as those are which a log
    /// names.
    ///
    /// # Errors
    /// If their files cannot be read.
    pub fn agent_snapshots(&self) -> Result<Vec<SnapshotId>> {
        let folder = self.folder().join("turns");
        let files = match fs::read_dir(&folder) {
            Ok(files) => files,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(failed("read", &folder)(error)),
        };
        let mut found = Vec::new();
        for file in files {
            let path = file.map_err(failed("read", &folder))?.path();
            found.extend(read(&path)?.into_iter().map(|moment| moment.snapshot));
        }
        Ok(found)
    }

    fn moments_of(&self, session: &AgentSession) -> PathBuf {
        let AgentSession { dialect, native_id } = session;
        let name = blake3::hash(format!("{dialect}\n{native_id}").as_bytes()).to_hex();
        self.folder().join("turns").join(format!("{name}.jsonl"))
    }
}

fn read(path: &Path) -> Result<Vec<Moment>> {
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed("read", path)(error)),
    };
    let lines = text.split(|&byte| byte == b'\n');
    Ok(lines.filter_map(|line| serde_json::from_slice(line).ok()).collect())
}

fn is_cut_short(file: &mut File) -> io::Result<bool> {
    let mut last = [b'\n'];
    if file.metadata()?.len() > 0 {
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
    }
    Ok(last != *b"\n")
}
