//! Reads a part of a session's history: the events around a position.

use forklore_core::call::CallStep;
use forklore_core::{ErrorKind, Header, OpenCalls, SessionId};
use forklore_engine::Engine;
use forklore_store::port::{At, Direction, LogEntry, Query};

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
/// The number of events before the first one that are searched for its open tool calls.
const CALLS_BEFORE: usize = 128;

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
            shown += usize::from(event.is_shown());
            bytes += event.bytes();
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
    entries.after(&open_before(engine, &header.id, from));
    let (mut next, mut shown, mut bytes) = (from, 0, 0);
    while next < most {
        for event in events(engine, &header.id, next, Direction::Forward)? {
            let is_full = shown >= SHOWN || bytes >= BYTES || next - from >= LOOKED_AT;
            let is_far = shown >= 2 * SHOWN || bytes >= 2 * BYTES;
            let goes_on = event.is_result() && entries.has_open_calls() && !is_far;
            if event.seq() >= most || (is_full && !goes_on) {
                return Ok((entries.finish(), next));
            }
            next = event.seq() + 1;
            shown += usize::from(event.is_shown());
            bytes += event.bytes();
            match event {
                Read::Event(stored) => entries.add(&stored),
                Read::Damaged(seq, message) => entries.add_damaged(seq, message),
            }
        }
    }
    Ok((entries.finish(), next))
}

/// An event that was read, or the reason why it cannot be read.
enum Read {
    Event(Box<LogEntry>),
    Damaged(u64, String),
}

impl Read {
    fn seq(&self) -> u64 {
        match self {
            Self::Event(stored) => stored.seq,
            Self::Damaged(seq, _) => *seq,
        }
    }

    fn is_shown(&self) -> bool {
        match self {
            Self::Event(stored) => Entries::shows(&stored.event),
            Self::Damaged(..) => true,
        }
    }

    fn is_result(&self) -> bool {
        let Self::Event(stored) = self else { return false };
        stored.event.effect.calls.iter().any(|step| matches!(step, CallStep::Close(_)))
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Event(stored) => stored.event.data.get().len(),
            Self::Damaged(..) => 0,
        }
    }
}

/// Reads a page of events. If an event of the page is damaged, reads fewer events. If the first
/// event is damaged, returns its damage instead.
fn events(
    engine: &Engine,
    session: &SessionId,
    at: u64,
    direction: Direction,
) -> Answer<Vec<Read>> {
    let mut limit = PAGE;
    loop {
        let query = Query { at: At::Seq(at), direction, limit, bare: false };
        match engine.store().read(session, &query) {
            Ok(page) if page.events.is_empty() => {
                return Err(Problem::missing(format!("This session has no event {at}.")));
            }
            Ok(page) => {
                return Ok(page.events.into_iter().map(Box::new).map(Read::Event).collect());
            }
            Err(error) if !is_damage(error.kind()) => return Err(error.into()),
            Err(_) if limit > 1 => limit /= 4,
            Err(error) => return Ok(vec![Read::Damaged(at, error.to_string())]),
        }
    }
}

fn is_damage(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::Corrupt | ErrorKind::MissingAncestor)
}

/// Returns the tool calls that are open before the log position `at`, from a bounded number of
/// events. If these events cannot be read, returns none, and results are shown without the names of
/// their tools.
pub(crate) fn open_before(engine: &Engine, session: &SessionId, at: u64) -> OpenCalls {
    let Some(last) = at.checked_sub(1) else { return OpenCalls::default() };
    let direction = Direction::Backward;
    let mut query = Query { at: At::Seq(last), direction, limit: 1, bare: true };
    let mut read = |limit| {
        query.limit = limit;
        engine.store().read(session, &query).map(|page| page.events).unwrap_or_default()
    };
    if read(1).first().is_none_or(|stored| stored.counts.open == 0) {
        return OpenCalls::default();
    }
    let mut events = read(CALLS_BEFORE);
    events.reverse();
    events.into_iter().map(|stored| stored.event.effect).collect()
}
