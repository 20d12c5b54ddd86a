//! Types of `append`: one atomic batch of events after a session's head.

use forklore_core::data::NotJson;
use forklore_core::{Class, Data, EventId, EventType, SessionId};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// An event to append.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct NewEvent {
    /// The event type.
    #[serde(rename = "type")]
    pub kind: EventType,
    /// The payload of the event. Its required fields depend on the type.
    pub data: Data,
    /// The event id. `null` generates an id. If the events have explicit ids and the request has
    /// `expect`, repeating the append is harmless.
    pub id: Option<EventId>,
    /// When the event happened. `null` means the time of the append.
    pub ts: Option<Timestamp>,
    /// The event class; `null` uses the default class of the type. Types that begin with `x.` may
    /// set any class but `lineage`; the class of every other type is fixed.
    pub class: Option<Class>,
}

impl NewEvent {
    /// Creates an event of this type. The append assigns its id and timestamp.
    #[must_use]
    pub fn new(kind: EventType, data: Data) -> Self {
        Self { kind, data, id: None, ts: None, class: None }
    }

    /// Creates a user message.
    ///
    /// # Errors
    /// If the text cannot be written as JSON.
    pub fn user(text: &str) -> Result<Self, NotJson> {
        Self::text(EventType::USER_MESSAGE, text)
    }

    /// Creates an assistant message.
    ///
    /// # Errors
    /// If the text cannot be written as JSON.
    pub fn assistant(text: &str) -> Result<Self, NotJson> {
        Self::text(EventType::ASSISTANT_MESSAGE, text)
    }

    /// Creates an event of this type with `text` as its `content`.
    ///
    /// # Errors
    /// If the text cannot be written as JSON.
    pub fn text(kind: EventType, text: &str) -> Result<Self, NotJson> {
        Ok(Self::new(kind, Data::of(&serde_json::json!({ "content": text }))?))
    }
}

/// The events of one append, with the session state that its writer expects.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Batch {
    /// The events, in log order.
    pub events: Vec<NewEvent>,
    /// The head `seq` that the writer last read (-1 for an empty log). If the session has another
    /// head, the append fails with `conflict`, unless exactly these events already follow `expect`.
    /// `null` appends after the current head, whatever it is.
    pub expect: Option<i64>,
    /// The name under which the caller has leased the session; `null` if the caller has no lease.
    pub owner: Option<String>,
}

impl From<Vec<NewEvent>> for Batch {
    fn from(events: Vec<NewEvent>) -> Self {
        Self { events, ..Self::default() }
    }
}

impl From<NewEvent> for Batch {
    fn from(event: NewEvent) -> Self {
        vec![event].into()
    }
}

/// The request of `append`: one batch for one session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Append {
    /// The session to append to.
    pub session_id: SessionId,
    /// The batch to append.
    pub batch: Batch,
}

/// The answer of `append`: the log positions of the events.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Appended {
    /// The session that was appended to.
    pub session_id: SessionId,
    /// The log position (`seq`) of the batch's first event.
    pub from_seq: u64,
    /// The log position (`seq`) of the batch's last event.
    pub to_seq: u64,
    /// The session's last log position. Greater than `to_seq` if the batch was already stored and
    /// other events followed it.
    pub head_seq: i64,
}
