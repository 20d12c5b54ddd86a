//! `delete` and `detach`.

use forklore_core::SessionId;
use serde::{Deserialize, Serialize};

/// What a delete does about descendants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DeleteMode {
    /// Branch children that were not detached refuse it.
    #[default]
    Refuse,
    /// They are deleted too.
    Cascade,
    /// They keep what they need; nothing is copied.
    DetachChildren,
}

/// `delete`: the session to delete.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Delete {
    /// The session.
    #[serde(rename = "session_id")]
    pub session: SessionId,
    /// What happens to its descendants.
    #[serde(default)]
    pub mode: DeleteMode,
    /// Only say what would go.
    #[serde(default)]
    pub dry_run: bool,
}

/// The answer of `delete`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Deleted {
    /// The sessions that are gone, in the order in which they went.
    pub deleted: Vec<SessionId>,
    /// How many of them left a nameless segment that others need; a dry run does not know it.
    #[serde(rename = "kept_segments")]
    pub retained_segments: u64,
    /// Whether this is only a plan.
    pub dry_run: bool,
}

/// The answer of `detach`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Detached {
    /// The session.
    pub session_id: SessionId,
    /// How many events were copied; none the second time.
    pub copied_events: u64,
}
