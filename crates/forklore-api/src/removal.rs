//! Types of `delete` and `detach`.

use forklore_core::SessionId;
use serde::{Deserialize, Serialize};

/// How `delete` treats the branches that were forked from the deleted session.
///
/// In every mode, delegates (sessions of sub-agents) on which no branch depends are deleted with
/// their parent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DeleteMode {
    /// Refuses the delete if branches were forked from the session. Detached branches (those with
    /// their own copy of their history) do not count.
    #[default]
    Refuse,
    /// Also deletes the delegates and the branches below the session. Detached branches and their
    /// descendants remain.
    Cascade,
    /// Deletes the session, but not the branches that were forked from it, nor the events that they
    /// inherit. No event is copied.
    DetachChildren,
}

/// The request of `delete`: deletes a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Delete {
    /// The session to delete.
    #[serde(rename = "session_id")]
    pub session: SessionId,
    /// How to treat the branches that were forked from the deleted session.
    #[serde(default)]
    pub mode: DeleteMode,
    /// Whether to return only the plan, and delete nothing.
    #[serde(default)]
    pub dry_run: bool,
}

/// The answer of `delete`: the sessions that were deleted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Deleted {
    /// The deleted sessions, in the order of their deletion. In a dry run: the sessions to delete.
    pub deleted: Vec<SessionId>,
    /// The number of deleted sessions that have events which remain stored because other sessions
    /// need them. Always 0 in a dry run.
    #[serde(rename = "kept_segments")]
    pub retained_segments: u64,
    /// Whether this answer is only a plan: nothing was deleted.
    pub dry_run: bool,
}

/// The answer of `detach`: the session that now has its own copy of the events that it inherits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Detached {
    /// The id of the detached session.
    pub session_id: SessionId,
    /// The number of inherited events that were copied. 0 if the session was already detached.
    pub copied_events: u64,
}
