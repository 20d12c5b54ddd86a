//! Types of `verify --repair`, which copies the readable data of a damaged store into a new store.

use forklore_core::SessionId;
use serde::{Deserialize, Serialize};

/// Counts of what a recovery copied from a damaged store into a new store, and the list of what it
/// could not read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Recovery {
    /// The number of recovered sessions. Deleted sessions do not count.
    pub sessions: u64,
    /// The number of recovered events. An event that several sessions share counts once.
    pub events: u64,
    /// The number of imported files (sources) that can still be restored from the new store.
    pub sources: u64,
    /// The number of recovered attachments.
    pub attachments: u64,
    /// The pieces of the damaged store that the recovery could not read.
    pub lost: Vec<LostPiece>,
}

/// A piece of a store that a recovery could not read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LostPiece {
    /// The id of the session to which the lost piece belongs. `null` if unknown.
    pub session_id: Option<SessionId>,
    /// The log position of the lost event. Absent if the lost piece is not an event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// What was lost: a session or its header, an event, an event's data, an imported file, or an
    /// attachment.
    pub what: LostKind,
    /// Why the piece could not be read.
    pub reason: String,
}

/// The kinds of pieces of a damaged store that a recovery can lose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LostKind {
    /// A whole session, or data in the header of a session.
    Header,
    /// A whole event. In the new store, an event of type `x.lost` replaces it at the same log
    /// position.
    Event,
    /// The `data` of an event. In the new store, an event of type `x.lost` replaces the event. The
    /// new event has the same id, timestamp and class.
    Data,
    /// An imported file, or a sidecar file of one. The lost file can no longer be restored byte for
    /// byte.
    Source,
    /// The bytes of an attachment. The messages that reference it remain.
    Attachment,
}

/// The answer of `verify --repair`: the new store, and what was recovered into it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Recovered {
    /// The location of the new store: a URL or a path.
    pub store: String,
    /// Counts of the recovered data, and the list of the lost data.
    #[serde(flatten)]
    pub recovery: Recovery,
}
