//! Types of `verify --repair`, which copies the readable data of a damaged store into a new store.

use forklore_core::SessionId;
use serde::{Deserialize, Serialize};

/// Counts of the data that a recovery copied into the new store, and the list of what it could not
/// read.
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
    /// The pieces that could not be read.
    pub lost: Vec<LostPiece>,
}

/// A piece of a store that a recovery could not read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LostPiece {
    /// The id of the session. `null` if unknown.
    pub session_id: Option<SessionId>,
    /// The log position of the lost event. Absent if the lost piece is not an event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// The kind of the lost piece.
    pub what: LostKind,
    /// Why the piece could not be read.
    pub reason: String,
}

/// The kinds of pieces that a recovery can lose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LostKind {
    /// A session, or the data in its header.
    Header,
    /// An event. In the new store, a marker event of type `x.lost` has its log position.
    Event,
    /// The `data` of an event. In the new store, a marker event has the event's id, timestamp and
    /// class.
    Data,
    /// An imported file, which can no longer be restored.
    Source,
    /// The bytes of an attachment. The messages that reference it remain.
    Attachment,
}

/// The answer of `verify --repair`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Recovered {
    /// The location of the new store.
    pub store: String,
    /// The recovered and the lost data.
    #[serde(flatten)]
    pub recovery: Recovery,
}
