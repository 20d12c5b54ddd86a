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
    /// The event id. `null` generates an id. If all events of a request have explicit ids and the
    /// request sets `expect`, repeating the request stores nothing twice.
    pub id: Option<EventId>,
    /// When the event happened. `null` means the time of the append.
    pub ts: Option<Timestamp>,
    /// The event class, which decides whether forks inherit the event. `null` uses the default
    /// class of the type. Types that begin with `x.` may set any class but `lineage`; the class of
    /// every other type is fixed.
    pub class: Option<Class>,
}

impl NewEvent {
    /// Creates an event with this type and this payload. The append assigns its id and timestamp.
    #[must_use]
    pub fn new(kind: EventType, data: Data) -> Self {
        Self { kind, data, id: None, ts: None, class: None }
    }

    /// Creates a user message event with this text.
    ///
    /// # Errors
    /// If the text cannot be written as JSON.
    pub fn user(text: &str) -> Result<Self, NotJson> {
        Self::text(EventType::USER_MESSAGE, text)
    }

    /// Creates an assistant message event with this text.
    ///
    /// # Errors
    /// If the text cannot be written as JSON.
    pub fn assistant(text: &str) -> Result<Self, NotJson> {
        Self::text(EventType::ASSISTANT_MESSAGE, text)
    }

    /// Creates an event of type `kind`, whose payload has `text` as its `content` field.
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
    /// head, the append fails with `conflict`, unless the log already has exactly these events
    /// directly after `expect`. `null` appends after the current head, whatever it is.
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

/// The request of `append`: a batch of events, and the session to append it to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Append {
    /// The session to append to.
    pub session_id: SessionId,
    /// The events to append, with the session state that the writer expects.
    pub batch: Batch,
}

/// The answer of `append`: the log positions of the appended events, and of the end of the log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Appended {
    /// The session to which the events were appended.
    pub session_id: SessionId,
    /// The log position (`seq`) of the batch's first event.
    pub from_seq: u64,
    /// The log position (`seq`) of the batch's last event.
    pub to_seq: u64,
    /// The log position (`seq`) of the session's last event. Greater than `to_seq` if an earlier
    /// request stored the same batch and other events followed it.
    pub head_seq: i64,
}
