//! The line of an event. It contains the envelope (docs/semantics.md, Envelope), the counts and
//! effects that were determined when the event was written, and the unchanged payload.

use forklore_core::{
    CallStep, Class, Counts, Data, Effect, Event, EventId, EventType, Origin, SessionId,
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::line;

/// The fields of an event's line before the payload. The payload follows them as it was written.
#[derive(Serialize)]
struct Head<'a> {
    id: &'a EventId,
    session_id: &'a SessionId,
    parent_id: Option<&'a SessionId>,
    root_id: &'a SessionId,
    seq: u64,
    ts: Timestamp,
    #[serde(rename = "type")]
    kind: &'a EventType,
    class: Class,
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<&'a Origin>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dialect: Option<&'a str>,
    at: [u64; 5],
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    turn: bool,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    calls: &'a [CallStep],
}

/// An event as a line of a session's file stores it.
#[derive(Debug)]
pub(crate) struct EventLine {
    /// The event's seq in the history of the session that owns the file.
    pub(crate) seq: u64,
    /// The session that first wrote the event, and the event's seq there.
    pub(crate) origin: Origin,
    /// The counts of the history up to and including this event.
    pub(crate) counts: Counts,
    pub(crate) event: Event,
}

/// The ids of the session that owns a file of events: its own, its parent's and its root's. Each
/// event line of the file contains them.
#[derive(Clone, Copy)]
pub(crate) struct Writer<'a> {
    pub(crate) session_id: &'a SessionId,
    pub(crate) parent_id: Option<&'a SessionId>,
    pub(crate) root_id: &'a SessionId,
}

impl<'a> From<&'a forklore_core::Header> for Writer<'a> {
    fn from(header: &'a forklore_core::Header) -> Self {
        Self {
            session_id: &header.id,
            parent_id: header.parent_id.as_ref(),
            root_id: &header.root_id,
        }
    }
}

/// Appends an event's line to `out`. `writer` is the session that owns the file. `origin` is the
/// session and seq where the event was first written; `None` unless the event is a copy.
pub(crate) fn write_event<'a>(
    out: &mut String,
    writer: impl Into<Writer<'a>>,
    seq: u64,
    origin: Option<&Origin>,
    counts: Counts,
    event: &Event,
) -> serde_json::Result<()> {
    let Writer { session_id, parent_id, root_id } = writer.into();
    let Event { id, ts, kind, class, dialect, effect, data } = event;
    let head = Head {
        id,
        session_id,
        parent_id,
        root_id,
        seq,
        ts: *ts,
        kind,
        class: *class,
        origin,
        dialect: dialect.as_deref(),
        at: [counts.inheritable, counts.index, counts.turns, counts.bytes, counts.open],
        turn: effect.starts_turn,
        calls: &effect.calls,
    };
    let start = out.len();
    out.push_str(&serde_json::to_string(&head)?);
    out.pop();
    out.push_str(",\"data\":");
    out.push_str(data.get());
    line::seal(out, start);
    Ok(())
}

/// A parsed event line. It borrows only the payload from the line; the other strings may be escaped
/// in JSON, so it owns them.
#[derive(Deserialize)]
struct Parsed<'a> {
    id: EventId,
    session_id: SessionId,
    seq: u64,
    ts: Timestamp,
    #[serde(rename = "type")]
    kind: EventType,
    class: Class,
    origin: Option<Origin>,
    dialect: Option<String>,
    at: [u64; 5],
    #[serde(default)]
    turn: bool,
    #[serde(default)]
    calls: Vec<CallStep>,
    #[serde(borrow)]
    data: &'a RawValue,
}

impl EventLine {
    /// Checks whether the line is an event line. Otherwise it is a commit line.
    pub(crate) fn is_one(line: &[u8]) -> bool {
        line.starts_with(b"{\"id\":")
    }

    /// Parses an event line whose checksum was already checked. With `bare`, the event gets the
    /// payload `null`.
    pub(crate) fn parse(line: &str, bare: bool) -> serde_json::Result<Self> {
        let parsed: Parsed<'_> = serde_json::from_str(line)?;
        let [stored, index, turns, bytes, open] = parsed.at;
        let own = || Origin { session_id: parsed.session_id, seq: parsed.seq };
        let data = if bare { "null" } else { parsed.data.get() };
        Ok(Self {
            seq: parsed.seq,
            origin: parsed.origin.unwrap_or_else(own),
            counts: Counts { inheritable: stored, index, turns, bytes, open },
            event: Event {
                id: parsed.id,
                ts: parsed.ts,
                kind: parsed.kind,
                class: parsed.class,
                dialect: parsed.dialect.map(Into::into),
                effect: Effect { starts_turn: parsed.turn, calls: parsed.calls },
                data: Data::from_checked(data),
            },
        })
    }
}
