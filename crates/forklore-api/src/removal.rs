//! Types of `delete`, `undelete`, `gc` and `detach`.

use forklore_core::{Label, SessionId};
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
    /// Whether to erase the sessions at once. Otherwise they go into the trash: `undelete` can
    /// bring them back until `gc` erases them. If set, the request may also name a session in the
    /// trash.
    #[serde(default)]
    pub erase: bool,
}

/// The answer of `delete`: the sessions that were deleted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Deleted {
    /// The deleted sessions, in the order of their deletion. In a dry run: the sessions to delete.
    pub deleted: Vec<SessionId>,
    /// The number of erased sessions that wrote events which other sessions need. These events
    /// remain stored. Always 0 in a dry run, and if the sessions went into the trash.
    #[serde(rename = "kept_segments")]
    pub retained_segments: u64,
    /// Whether this answer is only a plan: nothing was deleted.
    pub dry_run: bool,
}

/// The request of `undelete`: brings a session back from the trash. The session's delegates that
/// were deleted together with it come back too.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Undelete {
    /// The session to bring back.
    #[serde(rename = "session_id")]
    pub session: SessionId,
    /// Whether to bring back all sessions that were deleted together with this session.
    #[serde(default)]
    pub cascade: bool,
}

/// The answer of `undelete`: the sessions that came back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Undeleted {
    /// The sessions that came back, parents before their children. Empty if the session was not
    /// deleted.
    pub undeleted: Vec<UndeletedSession>,
}

/// A session that came back from the trash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UndeletedSession {
    /// The id of the session.
    pub session_id: SessionId,
    /// The label that the session has now.
    pub label: Label,
    /// The label that the session had before the delete, if another session has that label now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub former_label: Option<Label>,
}

/// The request of `gc`: erases the sessions that have been in the trash long enough, and removes
/// the bytes of erased sessions from the store's files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Gc {
    /// Erases the sessions that have been in the trash for this many seconds or longer. 0 erases
    /// all of the trash.
    pub trash_older_than_seconds: u64,
}

impl Gc {
    /// The default number of days that a session must have been in the trash before `gc` erases it.
    pub const TRASH_DAYS: u64 = 30;

    /// Creates a request that erases all of the trash.
    #[must_use]
    pub fn all() -> Self {
        Self { trash_older_than_seconds: 0 }
    }
}

impl Default for Gc {
    fn default() -> Self {
        Self { trash_older_than_seconds: Self::TRASH_DAYS * 24 * 60 * 60 }
    }
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
