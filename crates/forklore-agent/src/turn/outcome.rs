//! The result of a turn.

use forklore_core::SessionId;
use serde::Serialize;

use crate::notify::event::{TurnStatus, TurnUsage};

/// The result of a turn.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Turn {
    /// The session in which the turn ended.
    pub session_id: SessionId,
    /// The session in which the turn began, if another runtime took it over and the turn continued
    /// in a fork (docs/semantics.md, Writing).
    pub moved_from: Option<SessionId>,
    /// How the turn ended.
    pub status: Status,
    /// The last text of the model.
    pub text: String,
    /// Number of model calls with a complete answer.
    pub model_calls: u32,
    /// Number of tool calls that the model made.
    pub tool_calls: u32,
    /// Usage of all model calls of the turn.
    pub usage: TurnUsage,
    /// The last log position.
    pub head_seq: i64,
}

/// How a turn ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// The model finished.
    Success,
    /// The turn was interrupted.
    Cancelled,
    /// The turn ended early, for this reason.
    Incomplete(String),
}

impl Status {
    /// Returns the status as notifications report it.
    pub(crate) fn announced(&self) -> TurnStatus {
        match self {
            Self::Success => TurnStatus::Success,
            Self::Cancelled => TurnStatus::Cancelled,
            Self::Incomplete(_) => TurnStatus::Incomplete,
        }
    }

    /// Returns the status's name in notifications.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        self.announced().as_str()
    }
}
