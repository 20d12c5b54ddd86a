//! Types of `delete` and `detach`.

use forklore_core::SessionId;
use serde::{Deserialize, Serialize};

/// How `delete` treats the descendants of the session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DeleteMode {
    /// The delete is refused if the session has branch children that were not detached.
    #[default]
    Refuse,
    /// The descendants are deleted too.
    Cascade,
    /// The children remain and retain the events that they inherit. No event is copied.
    DetachChildren,
}

/// The request of `delete`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Delete {
    /// The session to delete.
    #[serde(rename = "session_id")]
    pub session: SessionId,
    /// How to treat the session's descendants.
    #[serde(default)]
    pub mode: DeleteMode,
    /// Whether to return only the plan, and delete nothing.
    #[serde(default)]
    pub dry_run: bool,
}

/// The answer of `delete`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Deleted {
    /// The deleted sessions, in the order of their deletion.
    pub deleted: Vec<SessionId>,
    /// The number of deleted sessions whose events remain stored, because other sessions still need
    /// them. Always 0 in a dry run.
    #[serde(rename = "kept_segments")]
    pub retained_segments: u64,
    /// Whether this answer is only a plan.
    pub dry_run: bool,
}

/// The answer of `detach`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Detached {
    /// The id of the session.
    pub session_id: SessionId,
    /// The number of copied events. 0 if the session was already detached.
    pub copied_events: u64,
}
