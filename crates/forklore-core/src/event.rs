//! An event and the line it is printed as (SPEC 2).

use std::io;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::call::Effect;
use crate::data::Data;
use crate::header::Header;
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

#[derive(Serialize)]
struct Envelope<'a> {
    id: &'a EventId,
    session_id: &'a SessionId,
    parent_id: Option<&'a SessionId>,
    root_id: &'a SessionId,
    seq: u64,
    ts: Timestamp,
    #[serde(rename = "type")]
    kind: &'a EventType,
    #[serde(skip_serializing_if = "Option::is_none")]
    class: Option<Class>,
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<&'a Origin>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dialect: Option<&'a str>,
}

/// Writes the event as one JSON line without its line break: the envelope of SPEC 2, then `data`
/// exactly as stored. `origin` is given for inherited events only.
///
/// # Errors
/// When `out` cannot be written.
pub fn write_envelope(
    out: &mut impl io::Write,
    header: &Header,
    seq: u64,
    origin: Option<&Origin>,
    event: &Event,
) -> io::Result<()> {
    let envelope = Envelope {
        id: &event.id,
        session_id: &header.id,
        parent_id: header.parent_id.as_ref(),
        root_id: &header.root_id,
        seq,
        ts: event.ts,
        kind: &event.kind,
        class: (event.class != event.kind.class()).then_some(event.class),
        origin,
        dialect: event.dialect.as_deref(),
    };
    let head = serde_json::to_string(&envelope)?;
    // `data` comes last and is spliced in as text, so that no read parses it.
    out.write_all(head.strip_suffix('}').unwrap_or(&head).as_bytes())?;
    out.write_all(b",\"data\":")?;
    out.write_all(event.data.get().as_bytes())?;
    out.write_all(b"}")
}
