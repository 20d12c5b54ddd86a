//! `log`, `replay`, `inspect` and `diff`: what is in a session.

use std::collections::BTreeMap;

use forklore_core::{
    Class, Content, Data, EventId, EventType, Label, Message, Origin, Role, SessionId,
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// `log`: which events to print.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct LogRange {
    /// The first log position.
    pub from: u64,
    /// The last log position; none is the end.
    pub to: Option<u64>,
    /// Only what the session wrote itself.
    pub own: bool,
}

/// One line of `log`: an event as it is stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EventLine {
    /// The event's id.
    pub id: EventId,
    /// The session that was read.
    pub session_id: SessionId,
    /// That session's parent.
    pub parent_id: Option<SessionId>,
    /// The root of its family.
    pub root_id: SessionId,
    /// The log position.
    pub seq: u64,
    /// When it happened.
    pub ts: Timestamp,
    /// What it is.
    #[serde(rename = "type")]
    pub kind: EventType,
    /// Its class, if it is not the one of its type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<Class>,
    /// Where it was first written, if another session wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// Which agent's record it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialect: Option<String>,
    /// Its payload, spelled as it was stored.
    pub data: Data,
}

/// One line of `replay`: a conversation event as a plain record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Record {
    /// Its index.
    pub index: u64,
    /// Its log position.
    pub seq: u64,
    /// Who speaks.
    pub role: Role,
    /// The text or the parts.
    pub content: Content,
    /// Whether it was interrupted: the part that came.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
    /// The present label of the session that wrote it.
    pub branch: Option<Label>,
    /// Where it was first written.
    pub origin: RecordOrigin,
    /// When it happened; not a part of the JSON.
    #[serde(skip)]
    pub ts: Timestamp,
}

/// Where a record was first written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RecordOrigin {
    /// The session.
    pub session_id: SessionId,
    /// The log position there.
    pub seq: u64,
    /// The event's id.
    pub id: EventId,
}

/// The answer of `inspect`: a session as its model sees it.
///
/// The messages are a list, or an iterator where they are read one by one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Inspection<Sent = Vec<Message>> {
    /// The messages, in order.
    pub messages: Sent,
    /// Whether every call had its result without repair.
    pub balanced: bool,
    /// How many calls the view had to answer.
    pub open_results: usize,
    /// How many results stand in for ones that never came.
    pub synthetic_results: usize,
    /// What was left out, by type.
    pub excluded: BTreeMap<String, u64>,
}

/// The answer of `diff`: two histories side by side, conversation events only.
///
/// What each has alone is a list, or an iterator where it is read record by record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Difference<Alone = Vec<Record>> {
    /// The last event in common; none when they share nothing.
    pub ancestor: Option<Ancestor>,
    /// How many events are in common.
    pub common: u64,
    /// What the first has alone.
    pub only_a: Alone,
    /// What the second has alone.
    pub only_b: Alone,
}

/// The last event in common, where it was first written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Ancestor {
    /// The session that wrote it.
    pub session_id: SessionId,
    /// Its index, the same in both histories.
    pub index: u64,
    /// Its log position in that session.
    pub seq: u64,
}
