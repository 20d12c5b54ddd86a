//! Types of `export` and `resume-in`, which write a session in a plain format or in the format of
//! an agent.

use std::path::PathBuf;

use forklore_core::{Selector, SessionId};
use serde::{Deserialize, Serialize};

/// The target format of an export, and how much of the session to write.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ExportTo {
    /// The name of the agent in whose format the session is written.
    pub dialect: String,
    /// The position in the session's log at which the export ends. `null` exports the whole
    /// session.
    pub at: Option<Selector>,
    /// The working directory of the agent that will continue the session. `null` uses the session's
    /// workspace.
    pub cwd: Option<String>,
}

/// The request of `export`: writes a session in the format of an agent, or as plain messages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Export {
    /// The session to export.
    pub session_id: SessionId,
    /// The target format, and how much of the session to write. The dialect (format name) `plain`
    /// writes one line for each message, with its role and its content. The dialects `html` and
    /// `markdown` write one page to read. All three ignore `cwd`.
    pub to: ExportTo,
    /// The new file to write the export to, on the machine that executes the request. `null`
    /// returns the bytes to the caller, separately from the JSON.
    pub path: Option<PathBuf>,
    /// Whether to replace the file at `path` if it exists. Without `path`, this field has no
    /// effect.
    #[serde(default)]
    pub overwrite: bool,
}

/// The request of `resume-in`: writes a session as a new file that an agent finds and resumes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ResumeInRequest {
    /// The session that the agent will continue.
    pub session_id: SessionId,
    /// The agent to write for, the log position at which the file ends, and the agent's working
    /// directory.
    pub to: ExportTo,
    /// The folder in which the agent stores its sessions, on the machine that executes the request.
    /// `null` uses the folder that the agent's environment variable names, or else its default
    /// folder in the home directory. For an agent without a folder of its own (opencode), `null`
    /// uses the current directory of the process that executes the request.
    pub home: Option<PathBuf>,
    /// Whether the new file refers to the session's original file instead of repeating the history.
    /// Only Codex supports this, and only for sessions that were imported from its own files.
    #[serde(default)]
    pub share: bool,
    /// Whether to return only the plan for the new file, and write nothing.
    #[serde(default)]
    pub dry_run: bool,
}

/// Counts of what an export wrote, and of what it left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Exported {
    /// The number of written entries: records that the agent itself had written, and messages
    /// converted from other events.
    pub events: u64,
    /// What the export left out, because the target format cannot express it or because a summary
    /// replaces it.
    pub lossy: Vec<LeftOut>,
}

/// Says how many events, or message parts, of one kind an export left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LeftOut {
    /// The kind of what the export left out: an event type, or a kind of message part such as
    /// `image`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The number of events or parts of this kind that the export left out.
    pub count: u64,
}

/// The answer of `export -o PATH`: describes the file that was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExportedFile {
    /// The path of the written file.
    pub path: PathBuf,
    /// The number of written entries: records that the agent itself had written, and messages
    /// converted from other events.
    pub events: u64,
    /// What the export left out, because the target format cannot express it or because a summary
    /// replaces it.
    pub lossy: Vec<LeftOut>,
}

/// The answer of `resume-in`: the session file that was written for an agent. The answer includes
/// the commands that start the agent with this file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ResumeIn {
    /// Whether this answer is only a plan: nothing was written.
    pub dry_run: bool,
    /// The path of the session file for the agent.
    pub path: PathBuf,
    /// The new branch, which gets what the agent writes into the file once the file is imported.
    /// `null` if nothing was written, or if the file will be a session of its own.
    pub branch: Option<SessionId>,
    /// The working directory of the agent.
    pub cwd: String,
    /// The shell commands that start the agent with the session.
    pub start: Vec<String>,
    /// The number of written entries: records that the agent itself had written, and messages
    /// converted from other events.
    pub events: u64,
    /// What was left out, because the agent's format cannot express it or because a summary
    /// replaces it.
    pub lossy: Vec<LeftOut>,
}
