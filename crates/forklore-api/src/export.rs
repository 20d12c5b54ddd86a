//! Types of `export` and `resume-in`, which write a session in a plain format or in the format of
//! an agent.

use std::path::PathBuf;

use forklore_core::{Selector, SessionId};
use serde::{Deserialize, Serialize};

/// The target format of an export, and how much of the session to write in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ExportTo {
    /// The name of the agent whose format is written.
    pub dialect: String,
    /// The position in the session at which the export ends. `null` exports the whole session.
    pub at: Option<Selector>,
    /// The directory that the agent will run in. `null` uses the session's workspace.
    pub cwd: Option<String>,
}

/// The request of `export`: the session to write in another format.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Export {
    /// The session to write.
    pub session_id: SessionId,
    /// The target format, and how much to write. The dialect `plain` writes one line with the role
    /// and the content of each message; `cwd` has no effect on it.
    pub to: ExportTo,
    /// The new file to write, on the machine that runs the verb. `null` returns the bytes to the
    /// caller; they travel apart from the JSON.
    pub path: Option<PathBuf>,
}

/// The request of `resume-in`: writes a session as a new file that an agent finds and resumes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ResumeInRequest {
    /// The session to continue.
    pub session_id: SessionId,
    /// The agent, where its file ends, and the directory that it will run in.
    pub to: ExportTo,
    /// The agent's own folder, on the machine that runs the verb. `null` uses the folder that the
    /// agent's environment variable names, or else its default folder in the home directory. For
    /// an agent without a folder of its own (opencode), `null` uses the current directory of the
    /// process that runs the verb.
    pub home: Option<PathBuf>,
    /// Whether to leave the history in the original file and to write only what is new. Only Codex
    /// supports this, and only for sessions that were imported from its own files.
    #[serde(default)]
    pub share: bool,
    /// Whether to return the plan only and write nothing.
    #[serde(default)]
    pub dry_run: bool,
}

/// The counts of an export: what it wrote, and what the target format cannot express.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Exported {
    /// The number of lines written.
    pub events: u64,
    /// The types of events that were left out because the target format cannot express them, with
    /// counts.
    pub lossy: Vec<LeftOut>,
}

/// The number of events of one type that an export left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LeftOut {
    /// The event type.
    #[serde(rename = "type")]
    pub kind: String,
    /// The number of events left out.
    pub count: u64,
}

/// The answer of `export -o PATH`: the file that was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExportedFile {
    /// The path of the written file.
    pub path: PathBuf,
    /// The number of lines written.
    pub events: u64,
    /// The types of events that were left out because the target format cannot express them, with
    /// counts.
    pub lossy: Vec<LeftOut>,
}

/// The answer of `resume-in`: the agent's session file, and the commands that start the agent with
/// this file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ResumeIn {
    /// Whether this answer is only a plan.
    pub dry_run: bool,
    /// The path of the agent's session file.
    pub path: PathBuf,
    /// The directory that the agent runs in.
    pub cwd: String,
    /// The shell commands to run.
    pub start: Vec<String>,
    /// The number of lines written.
    pub events: u64,
    /// The types of events that were left out because the agent's format cannot express them, with
    /// counts.
    pub lossy: Vec<LeftOut>,
}
