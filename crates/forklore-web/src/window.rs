//! Reads a part of a session's history: the events around a position.

use forklore_core::call::CallStep;
use forklore_core::{Header, SessionId};
use forklore_engine::Engine;
use forklore_engine::reading::{Readable, open_calls, readable};
use forklore_store::port::{At, Direction, Query};

use crate::answer::{Answer, Problem};
use crate::entry::{Entries, Entry};
use crate::params::Params;

/// The number of shown events of one page.
const SHOWN: usize = 60;
/// The number of shown events before the one that a link names.
const BEFORE: usize = 12;
/// The number of events, shown or not, after which a page ends.
const LOOKED_AT: u64 = 4_096;
/// The size of payloads after which a page ends, in bytes.
const BYTES: usize = 1 << 20;
/// The number of events of one read of the store.
const PAGE: usize = 64;

/// The position at which a page of the reader begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Position {
    /// The event at this log position.
    From(u64),
    /// Some events before the one at this log position.
    Around(u64),
    /// The events before this log position.
    Before(u64),
    /// The first event of this turn.
    Turn(u64),
    /// Some events before the message with this index, counted from 0.
    Message(u64),
    /// The last events.
    End,
}

/// A part of the history of a session.
pub(crate) struct Window {
    pub(crate) header: Header,
    /// The entries, in ascending order.
    pub(crate) entries: Vec<Entry>,
    /// The log position of the first event that was read, shown or not.
    pub(crate) from: u64,
    /// The log position after the last event that was read, shown or not.
    pub(crate) to: u64,
    /// The log position after the session's last event.
    pub(crate) end: u64,
    /// The event that the request names.
    pub(crate) at: Option<u64>,
}

impl Position {
    /// Reads the position from a query.
    pub(crate) fn of(params: &Params) -> Answer<Self> {
        if params.get("at") == Some("end") {
            return Ok(Self::End);
        }
        let number = |name| params.number(name);
        Ok(match (number("at")?, number("from")?, number("before")?, number("turn")?) {
            (Some(at), ..) => Self::Around(at),
            (_, Some(from), ..) => Self::From(from),
            (_, _, Some(before), _) => Self::Before(before),
            (.., Some(turn)) => Self::Turn(turn),
            _ => number("message")?.map_or(Self::From(0), Self::Message),
        })
    }
}

/// Reads the part of a session's history at a position.
pub(crate) fn read(engine: &Engine, session: &SessionId, position: Position) -> Answer<Window> {
    let header = engine.show(session)?;
    let end = u64::try_from(header.head_seq() + 1).unwrap_or(0);
    let (from, most, at) = match position {
        Position::From(seq) => (within(seq, end)?, end, None),
        Position::Around(seq) => {
            (before(engine, &header, within(seq, end)?, BEFORE)?, end, Some(seq))
        }
        Position::Before(seq) => {
            (before(engine, &header, seq.min(end), SHOWN)?, seq.min(end), None)
        }
        Position::Turn(turn) => {
            let turns = header.counts.turns;
            let missing = format!("This session has the turns 1 to {turns}.");
            let seq = seq_of(engine, &header, At::Turn(turn), missing)?;
            (seq, end, Some(seq))
        }
        Position::Message(index) => {
            let missing = format!("This session has {} messages.", header.counts.index);
            let seq = seq_of(engine, &header, At::Index(index), missing)?;
            (before(engine, &header, seq, BEFORE)?, end, Some(seq))
        }
        Position::End => (before(engine, &header, end, SHOWN)?, end, None),
    };
    let (entries, to) = forward(engine, &header, from, most)?;
    Ok(Window { header, entries, from, to, end, at })
}

fn within(seq: u64, end: u64) -> Answer<u64> {
    let message = match end {
        0 => "This session is empty.".to_owned(),
        _ => format!("The events of this session have the numbers 0 to {}.", end - 1),
    };
    if seq < end || seq == 0 { Ok(seq) } else { Err(Problem::missing(message)) }
}

/// Returns the log position of the event at a position. If there is none, the error says `missing`.
fn seq_of(engine: &Engine, header: &Header, at: At, missing: String) -> Answer<u64> {
    let is_there = match at {
        At::Turn(turn) => (1..=header.counts.turns).contains(&turn),
        At::Index(index) => index < header.counts.index,
        _ => true,
    };
    let query = Query { at, direction: Direction::Forward, limit: 1, bare: true };
    let page = is_there.then(|| engine.store().read(&header.id, &query)).transpose()?;
    let first = page.and_then(|page| page.events.first().map(|stored| stored.seq));
    first.ok_or_else(|| Problem::missing(missing))
}

/// Returns the position from which on `wanted` events are shown before the log position `at`.
fn before(engine: &Engine, header: &Header, at: u64, wanted: usize) -> Answer<u64> {
    let (mut from, mut shown, mut bytes) = (at, 0, 0);
    while let Some(last) = from.checked_sub(1)
        && at - from < LOOKED_AT
    {
        for event in events(engine, &header.id, last, Direction::Backward)? {
            from = event.seq();
            shown += usize::from(is_shown(&event));
            bytes += bytes_of(&event);
            if shown >= wanted || bytes >= BYTES {
                return Ok(from);
            }
        }
    }
    Ok(from)
}

/// Returns the entries from the log position `from` on, and the position after the last event that
/// was read. Reads no event at `most` or after it. The page does not end between a call and its
/// result if the result follows soon.
fn forward(engine: &Engine, header: &Header, from: u64, most: u64) -> Answer<(Vec<Entry>, u64)> {
    let mut entries = Entries::of(engine, header);
    entries.after(&open_calls(engine, &header.id, from));
    let (mut next, mut shown, mut bytes) = (from, 0, 0);
    while next < most {
        for event in events(engine, &header.id, next, Direction::Forward)? {
            let is_full = shown >= SHOWN || bytes >= BYTES || next - from >= LOOKED_AT;
            let is_far = shown >= 2 * SHOWN || bytes >= 2 * BYTES;
            let goes_on = is_result(&event) && entries.has_open_calls() && !is_far;
            if event.seq() >= most || (is_full && !goes_on) {
                return Ok((entries.finish(), next));
            }
            next = event.seq() + 1;
            shown += usize::from(is_shown(&event));
            bytes += bytes_of(&event);
            match event {
                Readable::Event(stored) => entries.add(&stored),
                Readable::Damaged(seq, message) => entries.add_damaged(seq, message),
            }
        }
    }
    Ok((entries.finish(), next))
}

fn is_shown(event: &Readable) -> bool {
    match event {
        Readable::Event(stored) => Entries::shows(&stored.event),
        Readable::Damaged(..) => true,
    }
}

fn is_result(event: &Readable) -> bool {
    let Readable::Event(stored) = event else { return false };
    stored.event.effect.calls.iter().any(|step| matches!(step, CallStep::Close(_)))
}

fn bytes_of(event: &Readable) -> usize {
    match event {
        Readable::Event(stored) => stored.event.data.get().len(),
        Readable::Damaged(..) => 0,
    }
}

/// Reads a page of events, which has at least one.
fn events(
    engine: &Engine,
    session: &SessionId,
    at: u64,
    direction: Direction,
) -> Answer<Vec<Readable>> {
    let events = readable(engine, session, at, direction, PAGE)?;
    if events.is_empty() {
        return Err(Problem::missing(format!("This session has no event {at}.")));
    }
    Ok(events)
}
