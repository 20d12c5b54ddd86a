//! Types of `import`, which reads session files of other agents.

use std::path::PathBuf;

use forklore_core::workspace::Workspace;
use forklore_core::{Cut, SessionId};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// The request of `import`: reads session files of other agents.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Import {
    /// Paths of session files, and of folders that contain them, on the machine that executes the
    /// request.
    pub paths: Vec<PathBuf>,
    /// The dialect (record format of an agent) of the files. `null` detects the dialect of each
    /// file.
    pub dialect: Option<String>,
    /// The workspace of sessions whose file does not record the directory that they worked in.
    pub workspace: Workspace,
    /// Whether to import sessions again that were deleted from the store. Such sessions get new
    /// ids.
    #[serde(default)]
    pub again: bool,
}

impl Import {
    /// Creates a request to import files of any dialect (record format of an agent). Sessions that
    /// were deleted from the store are not imported again.
    #[must_use]
    pub fn of(paths: Vec<PathBuf>, workspace: Workspace) -> Self {
        Self { paths, dialect: None, workspace, again: false }
    }
}

/// The answer of `import`: the imported files and their sessions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Imported {
    /// The number of requested files from which this import or an earlier one read sessions. A file
    /// counts as skipped instead if all its sessions were deleted.
    pub files: u64,
    /// The sessions of all files that `files` counts, grouped by file. Deleted sessions are
    /// omitted.
    pub sessions: Vec<ImportedSession>,
    /// The number of session files that have not changed since the last import. The field `files`
    /// includes them.
    pub unchanged: u64,
    /// The number of skipped files: no session was imported from them. Includes sidecar files
    /// (files next to a session file) that were not stored.
    pub skipped: u64,
    /// The first 20 skipped files that look like session files but that no known agent wrote, each
    /// with the reason. Files that `problems` lists are left out.
    pub passed_over: Vec<ImportProblem>,
    /// Counts of the sidecar files: files without a session that agents store next to session
    /// files.
    #[serde(rename = "beside")]
    pub sidecars: SidecarTotals,
    /// The problems that the import found in files and lines. An import never changes a file, so a
    /// problem loses no data.
    pub problems: Vec<ImportProblem>,
}

/// Counts of the sidecar files of an import: files without a session that agents store next to
/// session files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SidecarTotals {
    /// The number of sidecar files that this or an earlier import stored, including unchanged ones.
    pub files: u64,
    /// The number of stored sidecar files that have not changed since the last import.
    pub unchanged: u64,
    /// The number of bytes of sidecar files that this import read.
    pub bytes: u64,
}

/// A session of an imported file, with the number of its events.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ImportedSession {
    /// The id of the imported session.
    pub session_id: SessionId,
    /// The dialect (name of an agent's record format) of the session's records.
    pub dialect: String,
    /// The number of events of the session that were read from the file, without inherited events.
    /// The event `session_fork`, which an import adds to forks, does not count.
    pub events: u64,
    /// The number of events that this import added to the session.
    pub appended: u64,
    /// The total size in bytes of the inherited payloads that are stored only with other sessions.
    pub shared_bytes: u64,
    /// The id of the parent session. Absent for a root.
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
    /// The path of the file that has the problem.
    pub path: String,
    /// The number of the line with the problem, from 1. Absent if the problem is not about one
    /// line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The byte offset of the problem in the file, from 0. Absent if the problem has no position.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// The kind of the problem, for scripts.
    pub kind: ImportProblemKind,
    /// A description of the problem, for people.
    pub message: String,
}

/// The kind of a problem that an import found in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ImportProblemKind {
    /// Some bytes of the file are not a record. These bytes are stored, so that the file can be
    /// restored.
    Damage,
    /// One line has several records. All of these records were read.
    Splice,
    /// The bytes of a record are not UTF-8. The record was read with replacement characters. Its
    /// original bytes are stored, so that the file can be restored.
    NotUtf8,
    /// A line is longer than the limit. Its bytes are stored, so that the file can be restored.
    LineTooLong,
    /// The parent of a record is missing or comes later in the file. The record begins a branch
    /// that inherits nothing.
    MissingParent,
    /// The file refers to a session that the store does not have. If the file continues that
    /// session, or is a sidecar file (a file next to a session file) of that session, the file was
    /// not imported. If that session called the file's session as a sub-agent, the file's session
    /// became a root.
    MissingBase,
    /// The file has data that its agent does not normally write, or that this version does not
    /// support. The readable rest was imported.
    Irregular,
    /// The file exceeds a size limit. A file that consists of one document was not read at all.
    /// Compressed content that is too large in relation to its file was read only up to the limit.
    TooLarge,
    /// The last line of the file is incomplete. A later import reads the line, once the line is
    /// complete.
    Incomplete,
    /// The file could not be read.
    Unreadable,
    /// The file has no records in a format and version that forklore can read.
    UnknownFormat,
    /// The file no longer begins with the bytes that an earlier import read. The file was read as a
    /// new revision (version of the file).
    Rewritten,
    /// The file has records of a session that was deleted from the store. These records were
    /// skipped.
    Deleted,
    /// The import of the file failed with an error, which the message describes.
    Refused,
    /// The file has further problems, which the answer does not list.
    More,
}

/// The answer of `import --discover`: the agents that have sessions on the machine that executes
/// the request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Discovery {
    /// The agents that have sessions on the machine that executes the request.
    pub agents: Vec<FoundAgent>,
    /// The shell command that imports all sessions that were not imported yet. Absent if all were
    /// imported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

/// An agent that has session files on the machine that executes the request, with counts of these
/// files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FoundAgent {
    /// The name of the agent.
    pub agent: String,
    /// The dialect (name of the record format) of the agent's sessions.
    pub dialect: String,
    /// The folders in which the agent stores its sessions.
    #[serde(rename = "places")]
    pub paths: Vec<PathBuf>,
    /// The counts of the agent's session files and sidecar files.
    #[serde(flatten)]
    pub survey: Survey,
    /// The shell command that imports the agent's sessions.
    pub command: String,
}

/// Counts of an agent's session files and sidecar files (files without a session, next to a session
/// file). Both are recognized by their names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Survey {
    /// The number of the agent's session files.
    pub files: u64,
    /// The number of the agent's sidecar files.
    #[serde(rename = "beside")]
    pub sidecars: u64,
    /// The total size in bytes of the agent's session files and sidecar files.
    pub bytes: u64,
    /// When the most recently changed session file was changed. `null` if there is no session file.
    pub newest: Option<Timestamp>,
    /// The number of session files that were already imported, in whole or in part.
    pub imported: u64,
    /// The number of session files and sidecar files whose content is not yet completely imported.
    pub to_read: u64,
}
