//! The result of a turn, and how the turn ended.

pub use forklore_api::TurnOutcome as Status;
use forklore_core::SessionId;

use crate::notify::event::TurnUsage;

/// The result of a turn: how it ended, the model's last text and the usage.
#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    /// The session in which the turn ended.
    pub session_id: SessionId,
    /// The session in which the turn began, if another runtime took over that session and the turn
    /// continued in a fork (docs/semantics.md, Writing). `None` if the turn ended in the session in
    /// which it began.
    pub moved_from: Option<SessionId>,
    /// How the turn ended: complete, interrupted or cut short.
    pub status: Status,
    /// The text of the model's last answer.
    pub text: String,
    /// Number of model calls with a complete answer.
    pub model_calls: u32,
    /// Number of tool calls in the model's answers.
    pub tool_calls: u32,
    /// Usage of all model calls of the turn.
    pub usage: TurnUsage,
    /// The session's head at the end of the turn.
    pub head_seq: i64,
}
