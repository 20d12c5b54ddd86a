//! `verify --repair`: what can still be read of a damaged store, in a new one.

use forklore_core::SessionId;
use serde::{Deserialize, Serialize};

/// What a recovery copied into the new store, and what it could not read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Recovery {
    /// Sessions recovered, without what is left of deleted ones.
    pub sessions: u64,
    /// Events recovered, shared ones once.
    pub events: u64,
    /// Files of agents that can be restored from the new store.
    pub sources: u64,
    /// Attachments recovered.
    pub attachments: u64,
    /// What could not be read.
    pub lost: Vec<LostPiece>,
}

/// Something that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LostPiece {
    /// The session, if it is known.
    pub session_id: Option<SessionId>,
    /// The log position, if it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// What it is.
    pub what: LostKind,
    /// Why, in words.
    pub reason: String,
}

/// What a recovery may lose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LostKind {
    /// A session, or what its header said.
    Header,
    /// An event: a marker of the type `x.lost` takes its position.
    Event,
    /// An event's `data`: the marker has its id, time and class.
    Data,
    /// The file that sessions were read from: it cannot be restored any more.
    Source,
    /// The bytes of an attachment; the messages that name it stay.
    Attachment,
}

/// The answer of `verify --repair`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Recovered {
    /// The new store.
    pub store: String,
    /// What is in it, and what is not.
    #[serde(flatten)]
    pub recovery: Recovery,
}
