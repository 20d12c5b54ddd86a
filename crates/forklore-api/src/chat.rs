//! Types of `chat` and `resume`: one turn of a conversation.

use std::path::PathBuf;
use std::time::Duration;

use forklore_core::SessionId;
use forklore_core::workspace::Workspace;
use serde::{Deserialize, Serialize};

use crate::event::{TurnStatus, TurnUsage};

/// The request of `chat -p` and `resume -p`: one turn of a conversation.
///
/// Calls of tools that need a person's approval are denied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TurnRequest {
    /// The session to continue. `null` creates a new one, which needs a prompt.
    pub session_id: Option<SessionId>,
    /// The title of a new session. Not allowed with `session_id`.
    pub title: Option<String>,
    /// The workspace of a new session.
    pub workspace: Workspace,
    /// The model that answers, by its name in the configuration. `null` is the default model.
    pub model: Option<String>,
    /// The prompt, which may not be blank. `null` continues a turn that was interrupted or failed.
    pub prompt: Option<String>,
    /// Files to send with the prompt, on the machine that runs the turn.
    #[serde(default)]
    pub attach: Vec<PathBuf>,
    /// For how many seconds to wait for a session in which another program runs a turn. `null`
    /// waits without a limit. A missing field does not wait.
    #[serde(default = "no_wait")]
    pub wait_seconds: Option<u64>,
}

fn no_wait() -> Option<u64> {
    Some(0)
}

impl TurnRequest {
    /// Creates a request for the first turn of a new session, with all defaults.
    #[must_use]
    pub fn in_workspace(workspace: Workspace, prompt: String) -> Self {
        Self {
            session_id: None,
            title: None,
            workspace,
            model: None,
            prompt: Some(prompt),
            attach: Vec::new(),
            wait_seconds: no_wait(),
        }
    }

    /// Returns how long to wait for a session in which another program runs a turn.
    #[must_use]
    pub fn wait(&self) -> Duration {
        self.wait_seconds.map_or(Duration::MAX, Duration::from_secs)
    }
}

/// The answer of `chat -p` and `resume -p`. It is printed after the lines of the turn's events.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TurnAnswer {
    /// The session in which the turn ended.
    pub session_id: SessionId,
    /// The session in which the turn began. Absent unless the turn had to continue in a fork.
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
    /// Usage of all model calls of the turn.
    pub usage: TurnUsage,
    /// The last log position of `session_id`.
    pub head_seq: i64,
    /// The command that continues the conversation.
    pub resume_command: String,
}

/// How a turn ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TurnOutcome {
    /// The model finished its answer.
    Success,
    /// The turn was interrupted.
    Cancelled,
    /// The turn ended early. The string is the reason.
    Incomplete(String),
}

impl TurnOutcome {
    /// Returns the status that events report for this outcome, which omits the reason.
    #[must_use]
    pub fn status(&self) -> TurnStatus {
        match self {
            Self::Success => TurnStatus::Success,
            Self::Cancelled => TurnStatus::Cancelled,
            Self::Incomplete(_) => TurnStatus::Incomplete,
        }
    }

    /// Returns the name of the status that events report for this outcome.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        self.status().as_str()
    }
}
