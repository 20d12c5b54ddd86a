//! The result of a turn.

pub use forklore_api::TurnOutcome as Status;
use forklore_core::SessionId;

use crate::notify::event::TurnUsage;

/// The result of a turn.
#[derive(Clone, Debug, PartialEq)]
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
