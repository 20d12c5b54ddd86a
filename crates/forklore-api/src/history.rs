//! Types of `log`, `replay`, `inspect` and `diff`: the contents of sessions.

use std::collections::BTreeMap;

use forklore_core::{
    Class, Content, Data, EventId, EventType, Label, Message, Origin, Role, SessionId,
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// The range of a `log` request: which events to return.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct LogRange {
    /// The first log position to return.
    pub from: u64,
    /// The last log position to return. `null` returns up to the end.
    pub to: Option<u64>,
    /// Whether to return only events that the session wrote itself.
    pub own: bool,
}

/// One line of `log`: an event as it is stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EventLine {
    /// The id of the event.
    pub id: EventId,
    /// The session that was read.
    pub session_id: SessionId,
    /// The parent of that session. `null` for a root.
    pub parent_id: Option<SessionId>,
    /// The root of the session's family.
    pub root_id: SessionId,
    /// The log position.
    pub seq: u64,
    /// When the event happened.
    pub ts: Timestamp,
    /// The event type.
    #[serde(rename = "type")]
    pub kind: EventType,
    /// The event class. Absent if it is the default class of the type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<Class>,
    /// Where the event was first written. Only on inherited events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// The agent in whose format the event is stored. Only on imported events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialect: Option<String>,
    /// The payload, with strings and numbers as they were written.
    pub data: Data,
}

/// One line of `replay`: a conversation event as a plain record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Record {
    /// The conversation index of the event, from 0.
    pub index: u64,
    /// The log position of the event.
    pub seq: u64,
    /// The role of the message.
    pub role: Role,
    /// The content: a string or a list of parts.
    pub content: Content,
    /// Whether the message was interrupted, so that `content` is incomplete.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
    /// The current label of the session that wrote the event.
    pub branch: Option<Label>,
    /// Where the event was first written.
    pub origin: RecordOrigin,
    /// When the event happened. Not part of the JSON.
    #[serde(skip)]
    pub ts: Timestamp,
}

/// Where a record was first written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RecordOrigin {
    /// The session that wrote the event.
    pub session_id: SessionId,
    /// The log position of the event in that session.
    pub seq: u64,
    /// The id of the event.
    pub id: EventId,
}

/// The answer of `inspect`: the session as the model would receive it.
///
/// `Sent` is a list, or an iterator if the messages are read one by one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Inspection<Sent = Vec<Message>> {
    /// The messages, in order.
    pub messages: Sent,
    /// Whether every call had a result in the log, so that the view added none.
    pub balanced: bool,
    /// The number of open calls for which the view added a result.
    pub open_results: usize,
    /// The number of synthetic results, in the log and in the view.
    pub synthetic_results: usize,
    /// The number of items left out of the view, by type.
    pub excluded: BTreeMap<String, u64>,
}

/// The answer of `diff`: a comparison of two histories, by conversation events.
///
/// `Alone` is a list, or an iterator if the records are read one by one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Difference<Alone = Vec<Record>> {
    /// The last common event. `null` if the histories have none.
    pub ancestor: Option<Ancestor>,
    /// The number of common events.
    pub common: u64,
    /// The records that only the first session has.
    pub only_a: Alone,
    /// The records that only the second session has.
    pub only_b: Alone,
}

/// The last common event, by where it was first written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Ancestor {
    /// The session that wrote the event.
    pub session_id: SessionId,
    /// The conversation index of the event, the same in both histories.
    pub index: u64,
    /// The log position of the event in the session that wrote it.
    pub seq: u64,
}
