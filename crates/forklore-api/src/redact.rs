//! Types of `redact`, which takes the content of events away.

use forklore_core::operation::OperationId;
use forklore_core::report::Problem;
use forklore_core::{EventId, EventType, SessionId};
use serde::{Deserialize, Serialize};

/// The request of `redact`: takes the content of events away, wherever the store has them. The
/// events are named, or found by a text in the histories of sessions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Redact {
    /// The events to redact. Each is `SESSION:SEQ`, or an event id, which names every event with
    /// this id.
    pub events: Vec<String>,
    /// The sessions in whose histories `match` is searched for.
    #[serde(rename = "session_ids")]
    pub sessions: Vec<SessionId>,
    /// The text to find, or a regular expression if `regex` is set. It is searched for in the texts
    /// of an event's payload, and in the payload as it is stored.
    #[serde(rename = "match", skip_serializing_if = "Option::is_none")]
    pub matching: Option<String>,
    /// Whether `match` is a regular expression.
    pub regex: bool,
    /// Why the content is taken away. It is stored in place of the content.
    pub reason: String,
    /// Whether to return only the plan, and change nothing.
    pub dry_run: bool,
}

/// The answer of `redact`: what lost its content.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Redacted {
    /// The redacted events, each with the session and seq where it was first written. In a dry run:
    /// the events to redact.
    pub events: Vec<RedactedEvent>,
    /// The size of their former payloads, in bytes.
    pub bytes: u64,
    /// The sessions that lost their titles, because they quote a redacted event.
    pub titles: Vec<SessionId>,
    /// The paths of the imported files that cannot be restored any more.
    pub files: Vec<String>,
    /// The number of events that were redacted before. They stay as they are.
    pub already_redacted: u64,
    /// The number of the operation that records it. Absent if nothing changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<OperationId>,
    /// The sessions that could not be searched, each with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Problem>,
    /// Whether this answer is only a plan: nothing was redacted.
    pub dry_run: bool,
}

/// An event that lost its content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RedactedEvent {
    /// The session that wrote the event.
    pub session_id: SessionId,
    /// The seq of the event in that session.
    pub seq: u64,
    /// The id of the event.
    pub event_id: EventId,
    /// The type of the event.
    #[serde(rename = "type")]
    pub kind: EventType,
    /// The size of its former payload, in bytes.
    pub bytes: u64,
    /// Why the event is among the redacted ones.
    pub why: RedactionCause,
}

/// Why an event is among the redacted ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RedactionCause {
    /// The request named it.
    Named,
    /// The text to find is in it.
    Matched,
    /// It is a copy of such an event in another session.
    Copy,
    /// It is a summary or compaction that quotes such an event.
    Quote,
}
