//! Types of `push`, `pull`, `clone` and `handoff`, which copy sessions from one store into another,
//! and of `remote`, which names other stores.

use forklore_core::{Label, SessionId};
use serde::{Deserialize, Serialize};

/// Which sessions a transfer copies, and how (docs/semantics.md, Moving between stores).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Transfer {
    /// A session of the family to copy. `null` copies all families.
    #[serde(default)]
    pub session_id: Option<SessionId>,
    /// The name of the store from which the transfer copies. A parted branch of a session without
    /// a principal has this name as its label.
    #[serde(default)]
    pub name: Option<String>,
    /// Whether to compute the answer without writing anything.
    #[serde(default)]
    pub dry_run: bool,
}

/// What a transfer did, or would do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Transferred {
    /// Whether nothing was written because the request was a dry run.
    pub dry_run: bool,
    /// Whether the transfer was interrupted. A repetition completes it.
    pub interrupted: bool,
    /// The number of families that the transfer compared.
    pub families: u64,
    /// The number of sessions that have all of their events in the other store already.
    pub unchanged: u64,
    /// The sessions that the transfer created or continued, in the order of the writes.
    pub sessions: Vec<TransferredSession>,
    /// The number of events that were written. The `session_fork` of a parted branch counts.
    pub events: u64,
    /// The number of attachments whose bytes were copied.
    pub attachments: u64,
    /// The number of sources (imported files and their sidecars) that were created or continued.
    pub sources: u64,
    /// The number of events that were redacted in the other store, because they were redacted here.
    #[serde(default)]
    pub redacted: u64,
    /// The sessions and sources that were not copied, or not completely.
    pub skipped: Vec<SkippedTransfer>,
}

/// A session that a transfer created or continued.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TransferredSession {
    /// The id of the session in the store from which it was copied.
    pub session_id: SessionId,
    /// The id of the session in the other store. It differs for a parted branch.
    pub target_id: SessionId,
    /// The label in the other store. In a dry run, a label that may be in use there.
    pub label: Label,
    /// What was done with the session in the other store.
    pub state: TransferState,
    /// The number of events that were written.
    pub events: u64,
}

/// What a transfer did with a session in the other store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TransferState {
    /// The session was created with the same id.
    Created,
    /// Events were appended to a session that existed.
    Continued,
    /// The session had gone on differently there. A parted branch was created.
    Parted,
}

/// A session or source that a transfer did not copy, or not completely.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SkippedTransfer {
    /// The session, or the first session of the source.
    pub session_id: SessionId,
    /// Why it was skipped.
    pub why: SkipReason,
    /// The reason as text for people.
    pub reason: String,
}

/// Why a transfer skipped a session or a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SkipReason {
    /// The session, or an ancestor that it needs, was deleted in the other store.
    Deleted,
    /// The parent was deleted here and does not exist in the other store.
    ParentDeleted,
    /// The other store has another session with this id.
    OtherSession,
    /// A runtime has the session's lease in the other store.
    Busy,
    /// The imported file of the session was not copied.
    Source,
    /// The session cannot be read here, or the other store refused it.
    Failed,
}

/// Another store, by the name that the configuration gives it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Remote {
    /// The name.
    pub name: String,
    /// The URL of the store, without a password.
    pub url: String,
}

/// The stores that the configuration names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Remotes {
    /// The stores, in the order of their names.
    pub remotes: Vec<Remote>,
}

/// What `handoff` did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HandedOff {
    /// The session that another person continues, in the other store.
    pub session_id: SessionId,
    /// The person who continues it.
    pub to: String,
    /// The URL of the other store, without a password.
    pub url: String,
    /// The command with which this person continues the session.
    pub command: String,
    /// What was copied into the other store.
    pub transferred: Transferred,
}
