//! `append`: one atomic batch after a session's head.

use forklore_core::data::NotJson;
use forklore_core::{Class, Data, EventId, EventType, SessionId};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// An event to write.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct NewEvent {
    /// What it is.
    #[serde(rename = "type")]
    pub kind: EventType,
    /// Its payload.
    pub data: Data,
    /// Its id; none generates one. With ids a repeated append is harmless.
    pub id: Option<EventId>,
    /// When it happened; none is now.
    pub ts: Option<Timestamp>,
    /// Its class, for types that begin with `x.`.
    pub class: Option<Class>,
}

impl NewEvent {
    /// An event of this type; its id and time are given when it is written.
    #[must_use]
    pub fn new(kind: EventType, data: Data) -> Self {
        Self { kind, data, id: None, ts: None, class: None }
    }

    /// A message of the person.
    ///
    /// # Errors
    /// When the text cannot be written as JSON.
    pub fn user(text: &str) -> Result<Self, NotJson> {
        Self::text(EventType::USER_MESSAGE, text)
    }

    /// A message of the model.
    ///
    /// # Errors
    /// When the text cannot be written as JSON.
    pub fn assistant(text: &str) -> Result<Self, NotJson> {
        Self::text(EventType::ASSISTANT_MESSAGE, text)
    }

    /// An event of this type whose `content` is `text`.
    ///
    /// # Errors
    /// When the text cannot be written as JSON.
    pub fn text(kind: EventType, text: &str) -> Result<Self, NotJson> {
        Ok(Self::new(kind, Data::of(&serde_json::json!({ "content": text }))?))
    }
}

/// A batch, and what its writer expects.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct AppendRequest {
    /// The events, in order.
    pub events: Vec<NewEvent>,
    /// The head that the writer saw; none writes after whatever is there.
    pub expect: Option<i64>,
    /// The runtime that holds the session's lease, if one does.
    pub owner: Option<String>,
}

impl From<Vec<NewEvent>> for AppendRequest {
    fn from(events: Vec<NewEvent>) -> Self {
        Self { events, ..Self::default() }
    }
}

impl From<NewEvent> for AppendRequest {
    fn from(event: NewEvent) -> Self {
        vec![event].into()
    }
}

/// `append`: a batch for a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Append {
    /// The session.
    pub session_id: SessionId,
    /// The batch.
    pub batch: AppendRequest,
}

/// The answer of `append`: where the events are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Appended {
    /// The session.
    pub session_id: SessionId,
    /// The log position of the first event.
    pub from_seq: u64,
    /// The log position of the last event.
    pub to_seq: u64,
    /// The session's last log position; after `to_seq` when the events were there already.
    pub head_seq: i64,
}
