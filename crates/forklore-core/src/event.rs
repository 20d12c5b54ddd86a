//! An event, and where it was first written (SPEC 2).

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::call::Effect;
use crate::data::Data;
use crate::id::{EventId, SessionId};
use crate::kind::{Class, EventType};
use crate::payload;

/// One immutable record, as it is handed to a store and comes back from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its name; not unique.
    pub id: EventId,
    /// When it happened, to the microsecond.
    pub ts: Timestamp,
    /// What it is.
    pub kind: EventType,
    /// What forks do with it; fixed here for ever.
    pub class: Class,
    /// Whose form `data` has, where it is not forklore's own.
    pub dialect: Option<Arc<str>>,
    /// What it does to calls and turns.
    pub effect: Effect,
    /// The payload, verbatim.
    pub data: Data,
}

impl Event {
    /// Whether it is an answer of forklore's own that was interrupted (SPEC 4).
    #[must_use]
    pub fn is_partial(&self) -> bool {
        self.dialect.is_none() && payload::is_partial(&self.kind, &self.data)
    }
}

/// Where an event was first written: its identity (SPEC 1).
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Origin {
    /// The session that wrote it.
    pub session_id: SessionId,
    /// Its number there.
    pub seq: u64,
}

/// `ts` cut to the microseconds that every store keeps.
#[must_use]
pub fn to_micros(ts: Timestamp) -> Timestamp {
    Timestamp::from_microsecond(ts.as_microsecond()).unwrap_or(ts)
}
