//! Types of `chat` and `resume`: one turn of a conversation.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use forklore_core::SessionId;
use forklore_core::workspace::Workspace;
use serde::{Deserialize, Serialize};

use crate::event::{TurnStatus, TurnUsage};

/// The request of `chat -p` and `resume -p`: runs one turn of a conversation.
///
/// Tool calls that need a person's approval are denied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TurnRequest {
    /// The session to continue. `null` creates a new session, which needs a prompt.
    pub session_id: Option<SessionId>,
    /// The title of the new session, if the turn creates one. Not allowed with `session_id`.
    pub title: Option<String>,
    /// The permissions of the new session, if the turn creates one: an upper limit on what the
    /// session and its children may do. `null` means no limit. Not allowed with `session_id`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permissions: Option<BTreeSet<String>>,
    /// The workspace (folder) of the new session, if the turn creates one.
    pub workspace: Workspace,
    /// The model that answers the prompt, by its name in the configuration. `null` is the default
    /// model.
    pub model: Option<String>,
    /// The user's prompt, which may not be blank. `null` continues a turn that was interrupted or
    /// failed.
    pub prompt: Option<String>,
    /// The paths of files to send with the prompt, on the machine that runs the turn.
    #[serde(default)]
    pub attach: Vec<PathBuf>,
    /// How many seconds to wait if another program is running a turn in the session. `null` waits
    /// without a limit. If the field is missing, the turn does not wait.
    #[serde(default = "no_wait")]
    pub wait_seconds: Option<u64>,
}

fn no_wait() -> Option<u64> {
    Some(0)
}

impl TurnRequest {
    /// Creates a request that starts a new session in `workspace` with `prompt`. All other fields
    /// have their defaults.
    #[must_use]
    pub fn in_workspace(workspace: Workspace, prompt: String) -> Self {
        Self {
            session_id: None,
            title: None,
            permissions: None,
            workspace,
            model: None,
            prompt: Some(prompt),
            attach: Vec::new(),
            wait_seconds: no_wait(),
        }
    }

    /// Returns how long to wait while another program runs a turn in the session. The maximum
    /// duration means no limit.
    #[must_use]
    pub fn wait(&self) -> Duration {
        self.wait_seconds.map_or(Duration::MAX, Duration::from_secs)
    }
}

/// The answer of `chat -p` and `resume -p`: the outcome of a turn. The program prints it last,
/// after a line for each event of the turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TurnAnswer {
    /// The session in which the turn ended. This is a fork of the session in which the turn began,
    /// if the turn had to continue in a fork.
    pub session_id: SessionId,
    /// The session in which the turn began. Absent if the turn did not have to continue in a fork.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved_from: Option<SessionId>,
    /// How the turn ended.
    pub status: TurnOutcome,
    /// The last text that the model wrote in the turn.
    pub text: String,
    /// The number of model calls that returned a complete answer.
    pub model_calls: u32,
    /// The number of tool calls that the model made.
    pub tool_calls: u32,
    /// The tokens and the cost of all model calls of the turn.
    pub usage: TurnUsage,
    /// The last log position of the session in which the turn ended.
    pub head_seq: i64,
    /// The shell command that continues the conversation.
    pub resume_command: String,
}

/// How a turn ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TurnOutcome {
    /// The model finished its answer.
    Success,
    /// The turn was interrupted, by the user or the application.
    Cancelled,
    /// The turn ended early. The string states why.
    Incomplete(String),
}

impl TurnOutcome {
    /// Converts this outcome to the status that events contain. The status omits the reason of an
    /// incomplete turn.
    #[must_use]
    pub fn status(&self) -> TurnStatus {
        match self {
            Self::Success => TurnStatus::Success,
            Self::Cancelled => TurnStatus::Cancelled,
            Self::Incomplete(_) => TurnStatus::Incomplete,
        }
    }

    /// Returns the name of the status that events contain for this outcome. The name omits the
    /// reason of an incomplete turn.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        self.status().as_str()
    }
}
