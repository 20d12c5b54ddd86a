//! Types of `import`, which reads session files of other agents.

use std::path::PathBuf;

use forklore_core::workspace::Workspace;
use forklore_core::{Cut, SessionId};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// The request of `import`: the files to read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Import {
    /// Session files, and folders that contain them, on the machine that runs the verb.
    pub paths: Vec<PathBuf>,
    /// The dialect of the files. `null` recognizes the dialect of each file.
    pub dialect: Option<String>,
    /// The workspace of sessions whose file names no directory.
    pub workspace: Workspace,
    /// Whether to import deleted sessions again, under new ids.
    #[serde(default)]
    pub again: bool,
}

impl Import {
    /// Creates a request to import files of any dialect. Deleted sessions stay deleted.
    #[must_use]
    pub fn of(paths: Vec<PathBuf>, workspace: Workspace) -> Self {
        Self { paths, dialect: None, workspace, again: false }
    }
}

/// The answer of `import`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Imported {
    /// The number of files with sessions.
    pub files: u64,
    /// The sessions of the imported files, grouped by file.
    pub sessions: Vec<ImportedSession>,
    /// The number of files with sessions that have not changed since the last import.
    pub unchanged: u64,
    /// The number of files from which no session was imported.
    pub skipped: u64,
    /// Totals of the sidecar files: files without a session that agents store together with session
    /// files.
    #[serde(rename = "beside")]
    pub sidecars: SidecarTotals,
    /// The problems of files and lines. No data was lost because of these problems.
    pub problems: Vec<ImportProblem>,
}

/// Totals of the sidecar files of an import.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SidecarTotals {
    /// The number of sidecar files stored.
    pub files: u64,
    /// The number of sidecar files that have not changed since the last import.
    pub unchanged: u64,
    /// The number of bytes of sidecar files that this import read.
    pub bytes: u64,
}

/// A session of an imported file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ImportedSession {
    /// The id of the session.
    pub session_id: SessionId,
    /// The dialect of the session's records.
    pub dialect: String,
    /// The number of the session's own events that came from the file, not counting `session_fork`.
    pub events: u64,
    /// The number of events that this import added to the session.
    pub appended: u64,
    /// The size of the inherited payloads that are stored with other sessions, in bytes.
    pub shared_bytes: u64,
    /// The parent session. Absent for a root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_session_id: Option<SessionId>,
    /// The position in the parent's log at which the session begins. Absent for a root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<Cut>,
}

/// A problem of an imported file, or of one line of the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ImportProblem {
    /// The path of the file.
    pub path: String,
    /// The number of the line in the file, from 1. Absent if the problem is not about one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The byte offset in the file, from 0. Absent if the problem has no position.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// The kind of problem.
    pub kind: ImportProblemKind,
    /// A description of the problem.
    pub message: String,
}

/// The kind of a problem of an imported file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ImportProblemKind {
    /// Bytes that are not a record. They are stored with the source.
    Damage,
    /// Several records in one line. All of these records were read.
    Splice,
    /// A record whose bytes are not UTF-8. It was read with replacement characters, and its bytes
    /// are stored with the source.
    NotUtf8,
    /// A line longer than the limit. Its bytes are stored with the source.
    LineTooLong,
    /// A record whose parent is missing or comes later in the file. The record begins a branch at
    /// `start`.
    MissingParent,
    /// A session that the file refers to does not exist in the store. If the file continues that
    /// session, the file was not imported. If that session called the file's session as a
    /// sub-agent, the file's session became a root.
    MissingBase,
    /// Data that the agent does not normally write, or that this version does not support. The
    /// readable rest was imported.
    Irregular,
    /// A file beyond a size limit. Nothing was read of a document larger than the limit. Compressed
    /// content that expands too far for the size of its file was read only up to the limit.
    TooLarge,
    /// The last line of the file is incomplete. A later import reads the line once it is complete.
    Incomplete,
    /// The file cannot be read.
    Unreadable,
    /// The file has no records of a known agent.
    UnknownFormat,
    /// The file no longer begins with the bytes that an earlier import read. The file was read as a
    /// new revision.
    Rewritten,
    /// Records of a deleted session were skipped.
    Deleted,
    /// The store refused the file.
    Refused,
    /// The file has more problems than the answer lists.
    More,
}

/// The answer of `import --discover`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Discovery {
    /// The agents that have sessions on this machine.
    pub agents: Vec<FoundAgent>,
    /// The command that imports all sessions that are not imported yet. Absent if everything is
    /// imported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

/// An agent that has sessions on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FoundAgent {
    /// The name of the agent.
    pub agent: String,
    /// The dialect of the agent's records.
    pub dialect: String,
    /// The folders in which the agent stores its sessions.
    #[serde(rename = "places")]
    pub paths: Vec<PathBuf>,
    /// The counts of the agent's session files.
    #[serde(flatten)]
    pub survey: Survey,
    /// The command that imports the agent's sessions.
    pub command: String,
}

/// Counts of the session files and sidecar files at some paths. The files are recognized by their
/// names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Survey {
    /// The number of session files.
    pub files: u64,
    /// The number of sidecar files.
    #[serde(rename = "beside")]
    pub sidecars: u64,
    /// The total size of all these files, in bytes.
    pub bytes: u64,
    /// The time at which a session file was last changed. `null` if there is no session file.
    pub newest: Option<Timestamp>,
    /// The number of session files that were already imported.
    pub imported: u64,
    /// The number of files with content that was not imported yet, including sidecar files.
    pub to_read: u64,
}
