//! Types of `verify --repair`: copies what is readable of a damaged store into a new store.

use forklore_core::SessionId;
use serde::{Deserialize, Serialize};

/// What a recovery copied into the new store, and what it could not read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Recovery {
    /// The number of recovered sessions. Tombstones of deleted sessions do not count.
    pub sessions: u64,
    /// The number of recovered events. Shared events count once.
    pub events: u64,
    /// The number of imported files that can be restored from the new store.
    pub sources: u64,
    /// The number of recovered attachments.
    pub attachments: u64,
    /// What could not be read.
    pub lost: Vec<LostPiece>,
}

/// Something that a recovery could not read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LostPiece {
    /// The session. `null` if unknown.
    pub session_id: Option<SessionId>,
    /// The log position of the event, if the loss concerns an event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// What was lost.
    pub what: LostKind,
    /// Why it could not be read.
    pub reason: String,
}

/// What a recovery can lose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LostKind {
    /// A session, or the data in its header.
    Header,
    /// An event. A marker event of type `x.lost` takes its log position.
    Event,
    /// The `data` of an event. The marker event has the lost event's id, timestamp and class.
    Data,
    /// An imported file. It can no longer be restored.
    Source,
    /// The bytes of an attachment. The messages that reference it remain.
    Attachment,
}

/// The answer of `verify --repair`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Recovered {
    /// The new store.
    pub store: String,
    /// What the new store contains, and what was lost.
    #[serde(flatten)]
    pub recovery: Recovery,
}
