//! Reads the events of a session around a position.

use forklore_core::{Header, OpenCalls, SessionId};
use forklore_engine::{Engine, Result};
use forklore_store::port::{At, Direction, LogEntry, Query};

use super::entry::{Entries, damaged};
use crate::model::Entry;
use crate::request::{Answer, Events, EventsRequest, Position, Reading};

/// The number of shown events after which a request stops reading in a direction.
const SHOWN: usize = 64;
/// The number of events, shown or not, after which a request stops reading in a direction.
const LOOKED_AT: u64 = 2_048;
/// The number of events of one read of the store.
const PAGE: usize = 128;
/// The number of events before the first one that are searched for its open tool calls.
const CALLS_BEFORE: usize = 128;

pub(super) fn read(engine: &Engine, request: &EventsRequest) -> Result<Answer> {
    let header = engine.show(&request.session)?;
    let head = u64::try_from(header.head_seq()).ok();
    let end = head.map_or(0, |head| head + 1);
    let at = match request.at {
        Position::Seq(seq) => seq.min(end),
        Position::End => end,
        Position::Turn(turn) => seq_of_turn(engine, &header, turn)?.unwrap_or(end),
    };
    let (mut entries, mut from, mut to) = (Vec::new(), at, at);
    if request.direction != Reading::Forward {
        (entries, from) = before(engine, &header, request.all, at)?;
    }
    if request.direction != Reading::Backward {
        let mut after = Entries::of(engine, &header, request.all);
        after.after(&open_before(engine, &header.id, at));
        let (more, end) = forward(engine, &header.id, &mut after, at, end)?;
        entries.extend(more);
        to = end;
    }
    let row = super::list::row(engine, &header);
    Ok(Answer::Events(Box::new(Events { row, head, entries, from, to, at })))
}

fn seq_of_turn(engine: &Engine, header: &Header, turn: u64) -> Result<Option<u64>> {
    let turn = turn.clamp(1, header.counts.turns.max(1));
    let query = Query { at: At::Turn(turn), direction: Direction::Forward, limit: 1, bare: true };
    let page = engine.store().read(&header.id, &query)?;
    Ok(page.events.first().map(|stored| stored.seq))
}

/// Returns the entries before the log position `at`, and the position of the first event that was
/// read.
fn before(engine: &Engine, header: &Header, all: bool, at: u64) -> Result<(Vec<Entry>, u64)> {
    // Entries are converted in ascending order, so look for the beginning first.
    let mut from = at;
    let mut pages = Vec::new();
    let mut shown = 0;
    let probe = Entries::of(engine, header, all);
    while let Some(last) = from.checked_sub(1)
        && shown < SHOWN
        && at - from < LOOKED_AT
    {
        let mut page = page(engine, &header.id, last, Direction::Backward)?;
        page.reverse();
        from = page.first().map_or(0, Read::seq);
        shown += page.iter().filter(|event| event.is_shown(&probe)).count();
        pages.push(page);
    }
    let mut entries = Entries::of(engine, header, all);
    entries.after(&open_before(engine, &header.id, from));
    let events = pages.into_iter().rev().flatten();
    Ok((events.filter_map(|event| event.entry(&mut entries)).collect(), from))
}

/// Returns the entries from the log position `from` on, and the position after the last event that
/// was read. `end` is the position after the session's last event.
fn forward(
    engine: &Engine,
    session: &SessionId,
    entries: &mut Entries<'_>,
    from: u64,
    end: u64,
) -> Result<(Vec<Entry>, u64)> {
    let mut found = Vec::new();
    let mut next = from;
    while next < end && found.len() < SHOWN && next - from < LOOKED_AT {
        let page = page(engine, session, next, Direction::Forward)?;
        next = page.last().map_or(end, |last| last.seq() + 1);
        found.extend(page.into_iter().filter_map(|event| event.entry(entries)));
    }
    Ok((found, next))
}

/// An event that was read, or the reason why it cannot be read.
pub(super) enum Read {
    Event(Box<LogEntry>),
    Damaged(u64, String),
}

impl Read {
    pub(super) fn seq(&self) -> u64 {
        match self {
            Self::Event(stored) => stored.seq,
            Self::Damaged(seq, _) => *seq,
        }
    }

    pub(super) fn entry(&self, entries: &mut Entries<'_>) -> Option<Entry> {
        match self {
            Self::Event(stored) => entries.entry(stored),
            Self::Damaged(seq, message) => Some(damaged(*seq, message)),
        }
    }

    fn is_shown(&self, entries: &Entries<'_>) -> bool {
        match self {
            Self::Event(stored) => entries.shows(&stored.event),
            Self::Damaged(..) => true,
        }
    }
}

/// Reads a page of events. If an event of the page is damaged, reads fewer events. If the first
/// event is damaged, returns its damage instead.
pub(super) fn page(
    engine: &Engine,
    session: &SessionId,
    at: u64,
    direction: Direction,
) -> Result<Vec<Read>> {
    let mut limit = PAGE;
    loop {
        let query = Query { at: At::Seq(at), direction, limit, bare: false };
        match engine.store().read(session, &query) {
            Ok(page) => {
                return Ok(page.events.into_iter().map(Box::new).map(Read::Event).collect());
            }
            Err(error) if !is_damage(&error) => return Err(error.into()),
            Err(_) if limit > 1 => limit /= 4,
            Err(error) => return Ok(vec![Read::Damaged(at, error.to_string())]),
        }
    }
}

fn is_damage(error: &forklore_store::Error) -> bool {
    use forklore_core::ErrorKind;

    matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::MissingAncestor)
}

/// Returns the tool calls that are open before the log position `at`, from at most [`CALLS_BEFORE`]
/// events. If these events cannot be read, returns none, and results are shown without the names of
/// their tools.
pub(super) fn open_before(engine: &Engine, session: &SessionId, at: u64) -> OpenCalls {
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
