//! Writes an event as one JSON line (docs/semantics.md, Envelope).

use std::io;

use jiff::Timestamp;
use serde::Serialize;

use crate::event::{Event, Origin};
use crate::header::Header;
use crate::id::{EventId, SessionId};
use crate::kind::{Class, EventType};

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

/// Writes `event` to `out` as one JSON line, without a line break at the end. The fields of the
/// envelope (ids, position, time and type) come first, then `data` exactly as stored. `header` is
/// the header of the session in whose log the event has position `seq`. Pass `origin` for inherited
/// events only.
///
/// # Errors
/// If writing to `out` fails.
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
    // `data` comes last and is inserted as text, so that no read has to parse it.
    out.write_all(head.strip_suffix('}').unwrap_or(&head).as_bytes())?;
    out.write_all(b",\"data\":")?;
    out.write_all(event.data.get().as_bytes())?;
    out.write_all(b"}")
}
