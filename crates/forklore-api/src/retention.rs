//! Types of `gc --policy`, which deletes and erases by the user's policy.

use std::num::NonZeroU32;

use forklore_core::report::Collected;
use forklore_core::{Label, SessionId};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// A policy that says how long sessions are retained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Retention {
    /// Sessions that were not changed for this many days go into the trash. `null` puts none there.
    pub delete_after_days: Option<NonZeroU32>,
    /// Sessions that have been in the trash for this many days are erased. `null` means 30, as for
    /// every `gc`.
    pub erase_after_days: Option<NonZeroU32>,
    /// Whether a session stays that has a label which is not a default label, because somebody
    /// chose it.
    pub spare_labelled: bool,
}

impl Default for Retention {
    fn default() -> Self {
        Self { delete_after_days: None, erase_after_days: None, spare_labelled: true }
    }
}

/// The request of `gc --policy`: applies a policy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct ApplyRetention {
    /// The policy to apply.
    pub policy: Retention,
    /// Whether to return only what would go, and change nothing.
    pub dry_run: bool,
}

/// The answer of `gc --policy`: what went and why, and what stayed although it is old.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AppliedRetention {
    /// The policy that was applied.
    pub policy: Retention,
    /// The sessions that went into the trash, descendants before their ancestors. In a dry run: the
    /// sessions that would go.
    pub deleted: Vec<DueSession>,
    /// The sessions that were erased. In a dry run: the sessions that would be erased.
    pub erased: Vec<DueSession>,
    /// The sessions that stayed although they are old enough to go.
    pub spared: Vec<SparedSession>,
    /// What the collection of garbage freed. Absent in a dry run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collected: Option<Collected>,
    /// Whether this answer is only a plan: nothing was changed.
    pub dry_run: bool,
}

/// A session that goes by a policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DueSession {
    /// The id of the session.
    pub session_id: SessionId,
    /// The label of the session.
    pub label: Label,
    /// The title of the session, if it has one.
    pub title: Option<String>,
    /// Since when the session was not changed; for an erased session, since when it was in the
    /// trash.
    pub since: Timestamp,
    /// The session with which this one goes, because it is its sub-agent. Absent for a session that
    /// goes by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub with: Option<SessionId>,
}

/// A session that stays although it is old enough to go.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SparedSession {
    /// The id of the session.
    pub session_id: SessionId,
    /// The label of the session.
    pub label: Label,
    /// Why the session stays.
    pub reason: SpareReason,
    /// The session that is the reason, if it is another one: a branch, or a sub-agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because_of: Option<SessionId>,
}

/// Why a session stays although it is old enough to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SpareReason {
    /// Somebody gave it, or a sub-agent that would go with it, a label.
    Labelled,
    /// It, or a sub-agent that would go with it, runs a turn.
    Running,
    /// A sub-agent that would go with it was changed since.
    Changed,
    /// A branch of it stays and is not detached.
    HasChildren,
    /// It changed, or could not be deleted, between the plan and its execution.
    Refused,
}
