//! Events and their origins (docs/semantics.md, Envelope).

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::call::Effect;
use crate::data::Data;
use crate::id::{EventId, SessionId};
use crate::kind::{Class, EventType};
use crate::payload;

/// One immutable record of a log, without its log position. Its serialized form is that of the
/// protocol between stores, not that of the contract.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// The event's id. Event ids are not unique: copies of an event have the same id.
    pub id: EventId,
    /// When the event happened, with a precision of microseconds.
    pub ts: Timestamp,
    /// The event's type.
    pub kind: EventType,
    /// The class, which decides whether forks inherit the event. It never changes.
    pub class: Class,
    /// The name of the agent format in which `data` is written; `None` for forklore's own format.
    #[serde(with = "dialect")]
    pub dialect: Option<Arc<str>>,
    /// How the event changes open tool calls and turns.
    pub effect: Effect,
    /// The payload, verbatim.
    pub data: Data,
}

impl Event {
    /// Checks whether the event is an interrupted assistant message in forklore's own format
    /// (docs/semantics.md, Payloads of forklore's own events).
    #[must_use]
    pub fn is_partial(&self) -> bool {
        self.dialect.is_none() && payload::is_partial(&self.kind, &self.data)
    }
}

/// The name of an agent format, which events share.
mod dialect {
    use std::sync::Arc;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(
        name: &Option<Arc<str>>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        name.as_deref().serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Arc<str>>, D::Error> {
        Ok(Option::<String>::deserialize(from)?.map(Into::into))
    }
}

/// The session and log position at which an event was first written. The origin identifies the
/// event (docs/semantics.md, Words).
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Origin {
    /// The id of the session that wrote the event.
    pub session_id: SessionId,
    /// The event's log position in that session, from 0.
    pub seq: u64,
}

/// Truncates `ts` to microseconds, the precision with which stores write times.
#[must_use]
pub fn to_micros(ts: Timestamp) -> Timestamp {
    Timestamp::from_microsecond(ts.as_microsecond()).unwrap_or(ts)
}
