//! What a turn comes to.

use forklore_core::SessionId;
use serde::Serialize;

use crate::notify::event::{TurnStatus, TurnUsage};

/// What a turn came to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Turn {
    /// The session in which it ended.
    pub session_id: SessionId,
    /// The session in which it began, where the runtime lost that one to another on the way and
    /// went on in a fork (SPEC 9).
    pub moved_from: Option<SessionId>,
    /// How it ended.
    pub status: Status,
    /// The last text of the model.
    pub text: String,
    /// How often the model answered.
    pub model_calls: u32,
    /// How many calls it made.
    pub tool_calls: u32,
    /// What it took.
    pub usage: TurnUsage,
    /// The last log position.
    pub head_seq: i64,
}

/// How a turn ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// The model had no more to say.
    Success,
    /// It was interrupted.
    Cancelled,
    /// It was cut short, and why.
    Incomplete(String),
}

impl Status {
    /// The status as events tell it.
    pub(crate) fn announced(&self) -> TurnStatus {
        match self {
            Self::Success => TurnStatus::Success,
            Self::Cancelled => TurnStatus::Cancelled,
            Self::Incomplete(_) => TurnStatus::Incomplete,
        }
    }

    /// The word for it in events.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        self.announced().as_str()
    }
}
