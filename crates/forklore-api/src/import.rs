//! Types of `import`: reads session files of other agents.

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
    /// The sessions of these files, grouped by file.
    pub sessions: Vec<ImportedSession>,
    /// The number of these files that have not changed since the last import.
    pub unchanged: u64,
    /// The number of files from which no session was imported.
    pub skipped: u64,
    /// Totals of the sidecar files: files without a session that agents store next to session
    /// files.
    #[serde(rename = "beside")]
    pub sidecars: SidecarTotals,
    /// Problems of files and lines. No data was lost because of them.
    pub problems: Vec<ImportProblem>,
}

/// Totals of the sidecar files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SidecarTotals {
    /// The number of sidecar files stored.
    pub files: u64,
    /// The number of these files that have not changed since the last import.
    pub unchanged: u64,
    /// The number of bytes read by this import.
    pub bytes: u64,
}

/// A session of an imported file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ImportedSession {
    /// The session.
    pub session_id: SessionId,
    /// The dialect of its records.
    pub dialect: String,
    /// The number of its own events that came from the file, without its `session_fork`.
    pub events: u64,
    /// The number of these events that this import added.
    pub appended: u64,
    /// The size of the payloads in its history that are stored with other sessions, in bytes.
    pub shared_bytes: u64,
    /// The session from which it branches, or whose delegate it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_session_id: Option<SessionId>,
    /// The cut in the parent at which it begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<Cut>,
}

/// A problem of a file or of a line in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ImportProblem {
    /// The path of the file.
    pub path: String,
    /// The line number, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The byte offset in the file, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// The kind of problem.
    pub kind: ImportProblemKind,
    /// What is wrong, in words.
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
    /// Several records in one line. Each was read.
    Splice,
    /// A record whose bytes are not UTF-8. It was read with replacement characters, and its bytes
    /// are stored with the source.
    NotUtf8,
    /// A line longer than the limit. Its bytes are stored with the source.
    LineTooLong,
    /// A record whose parent does not precede it. It begins a branch at the start.
    MissingParent,
    /// The session that this one continues does not exist, so the file was not imported; or the
    /// session that called this one does not exist, so this one is a root.
    MissingBase,
    /// Data that the agent does not normally write, or that this version does not know. Everything
    /// readable was read.
    Irregular,
    /// A document larger than the limit, of which nothing was read, or compressed content that is
    /// too large for its file, which was read only up to the limit.
    TooLarge,
    /// The last line is incomplete. It is read once it is complete.
    Incomplete,
    /// The file cannot be read.
    Unreadable,
    /// The file has no records of a known agent.
    UnknownFormat,
    /// The file no longer begins with the bytes that were read before. It was read as a new
    /// revision.
    Rewritten,
    /// Records of a deleted session were skipped.
    Deleted,
    /// The store refused the file.
    Refused,
    /// The file has more problems than are listed.
    More,
}

/// The answer of `import --discover`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Discovery {
    /// The agents that have sessions on this machine.
    pub agents: Vec<FoundAgent>,
    /// The command that imports everything that is not imported yet. Absent if everything is
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
    /// The dialect of its records.
    pub dialect: String,
    /// The folders in which it stores its sessions.
    #[serde(rename = "places")]
    pub paths: Vec<PathBuf>,
    /// Its session files, and how many of them are imported.
    #[serde(flatten)]
    pub survey: Survey,
    /// The command that imports its sessions.
    pub command: String,
}

/// The session files at some paths, recognized by their names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Survey {
    /// The number of session files.
    pub files: u64,
    /// The number of sidecar files.
    #[serde(rename = "beside")]
    pub sidecars: u64,
    /// The size of all files together, in bytes.
    pub bytes: u64,
    /// The time of the last change of a session file. `null` if there is no file.
    pub newest: Option<Timestamp>,
    /// The number of session files that were imported before.
    pub imported: u64,
    /// The number of files, including sidecar files, with content that was not imported.
    pub to_read: u64,
}
