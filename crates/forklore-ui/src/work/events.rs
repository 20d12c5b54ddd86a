//! Reads the events of a session around a position.

use forklore_core::{Header, SessionId};
use forklore_engine::reading::{Readable, open_calls, readable};
use forklore_engine::{Engine, Result};
use forklore_store::port::{At, Direction, Query};

use super::entry::{Entries, damaged};
use crate::model::Entry;
use crate::request::{Answer, Events, EventsRequest, Position, Reading};

/// The number of shown events after which a request stops reading in a direction.
const SHOWN: usize = 64;
/// The number of events, shown or not, after which a request stops reading in a direction.
const LOOKED_AT: u64 = 2_048;
/// The number of events of one read of the store.
pub(super) const PAGE: usize = 128;

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
        after.after(&open_calls(engine, &header.id, at));
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
        let mut page = readable(engine, &header.id, last, Direction::Backward, PAGE)?;
        page.reverse();
        from = page.first().map_or(0, Readable::seq);
        shown += page.iter().filter(|event| is_shown(event, &probe)).count();
        pages.push(page);
    }
    let mut entries = Entries::of(engine, header, all);
    entries.after(&open_calls(engine, &header.id, from));
    let events = pages.into_iter().rev().flatten();
    Ok((events.filter_map(|event| entry(&event, &mut entries)).collect(), from))
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
        let page = readable(engine, session, next, Direction::Forward, PAGE)?;
        next = page.last().map_or(end, |last| last.seq() + 1);
        found.extend(page.into_iter().filter_map(|event| entry(&event, entries)));
    }
    Ok((found, next))
}

pub(super) fn entry(event: &Readable, entries: &mut Entries<'_>) -> Option<Entry> {
    match event {
        Readable::Event(stored) => entries.entry(stored),
        Readable::Damaged(seq, message) => Some(damaged(*seq, message)),
    }
}

fn is_shown(event: &Readable, entries: &Entries<'_>) -> bool {
    match event {
        Readable::Event(stored) => entries.shows(&stored.event),
        Readable::Damaged(..) => true,
    }
}
