//! Events and their origins (docs/semantics.md, Envelope).

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::call::Effect;
use crate::data::Data;
use crate::id::{EventId, SessionId};
use crate::kind::{Class, EventType};
use crate::payload;

/// One immutable record, as a store receives and returns it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The event's id, which is not unique.
    pub id: EventId,
    /// When the event happened, with a precision of microseconds.
    pub ts: Timestamp,
    /// The event's type.
    pub kind: EventType,
    /// The class, which decides what forks do with the event. It never changes.
    pub class: Class,
    /// The agent format of `data`; `None` if it is forklore's own.
    pub dialect: Option<Arc<str>>,
    /// How the event changes open calls and turns.
    pub effect: Effect,
    /// The payload, verbatim.
    pub data: Data,
}

impl Event {
    /// Checks whether it is an interrupted assistant message in forklore's own format
    /// (docs/semantics.md, Payloads of forklore's own events).
    #[must_use]
    pub fn is_partial(&self) -> bool {
        self.dialect.is_none() && payload::is_partial(&self.kind, &self.data)
    }
}

/// Where an event was first written, which identifies it (docs/semantics.md, Words).
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Origin {
    /// The session that wrote it.
    pub session_id: SessionId,
    /// Its log position in that session.
    pub seq: u64,
}

/// Truncates `ts` to microseconds, the precision that every store retains.
#[must_use]
pub fn to_micros(ts: Timestamp) -> Timestamp {
    Timestamp::from_microsecond(ts.as_microsecond()).unwrap_or(ts)
}
