//! Types of `chat` and `resume`: one turn of a conversation.

use forklore_core::SessionId;
use serde::{Deserialize, Serialize};

use crate::event::{TurnStatus, TurnUsage};

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
