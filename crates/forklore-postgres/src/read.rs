//! Reads pages of a session's history.

use forklore_core::redaction::REDACTED_PREFIX;
use forklore_core::{Effect, EventId, OpenCall, OpenCalls, SessionId};
use forklore_store::port::{At, Direction, LogEntry, Page, Query};
use tokio_postgres::Row;

use crate::connection::{number, numbers, text, texts, truths};
use crate::database::Database;
use crate::event::{COLUMNS, Stored, effect};
use crate::fault::{Fault, Result};
use crate::history::{History, Part};
use crate::number::{signed, unsigned};
use crate::session::Session;

/// How many events at once are searched backwards for the calls that are open at a cut.
const OPEN_PAGE: i64 = 256;

/// Reads a page of the history of a session.
pub(crate) fn page(database: Database<'_>, session: Session, query: &Query) -> Result<Page> {
    let history = History::of(database, session)?;
    if let At::Id(id) = &query.at {
        return named(database, &history, id, query);
    }
    let head = history.session.header.head_seq();
    let Some(start) = start(database, &history, query)? else { return Ok(Page::default()) };
    let count = signed(query.limit.max(1) as u64) - 1;
    let (from, to) = match query.direction {
        Direction::Forward => (start, start.saturating_add(count).min(head)),
        Direction::Backward => (start.saturating_sub(count).max(0), start),
    };
    let events = range(database, &history, from, to, query.bare)?;
    let more = match query.direction {
        Direction::Forward => to < head,
        Direction::Backward => from > 0,
    };
    let mut page = Page { events, more };
    if query.direction == Direction::Backward {
        page.events.reverse();
    }
    Ok(page)
}

/// Returns the seq at which the page begins; `None` if there is nothing to read.
fn start(database: Database<'_>, history: &History, query: &Query) -> Result<Option<i64>> {
    let header = &history.session.header;
    let (head, counts) = (header.head_seq(), &header.counts);
    let backward = query.direction == Direction::Backward;
    match query.at {
        At::Seq(seq) => {
            let seq = signed(seq);
            let seq = if backward { seq.min(head) } else { seq };
            Ok((seq >= 0 && seq <= head).then_some(seq))
        }
        At::Inheritable(n) if n == 0 || n > counts.inheritable => Ok(None),
        At::Inheritable(n) => {
            let part = history.part_exceeding(n - 1, |counts| counts.inheritable);
            search(database, history, &part, "kept", n - 1).map(Some)
        }
        At::Index(n) if n >= counts.index => Ok(None),
        At::Index(n) => {
            let part = history.part_exceeding(n, |counts| counts.index);
            search(database, history, &part, "index", n).map(Some)
        }
        At::Turn(n) if n == 0 || n > counts.turns => Ok(None),
        At::Turn(n) => {
            let part = history.part_exceeding(n - 1, |counts| counts.turns);
            search(database, history, &part, "turns", n - 1).map(Some)
        }
        At::Id(_) => Ok(None),
    }
}

/// Returns the seq of the first event of the range whose count `column` exceeds `than`. The
/// database does the whole binary search.
fn search(
    database: Database<'_>,
    history: &History,
    part: &Part,
    column: &str,
    than: u64,
) -> Result<i64> {
    if !part.own && column == "kept" {
        return Ok(signed(than) + 1);
    }
    let key = if part.own { "e.seq" } else { "e.class < 3 AND e.kept" };
    let sql = format!(
        "WITH RECURSIVE search (low, high) AS (
             SELECT $4::int8, $5::int8
             UNION ALL
             SELECT CASE WHEN t.reached THEN t.low ELSE t.middle + 1 END,
                    CASE WHEN t.reached THEN t.middle ELSE t.high END
             FROM (SELECT s.low, s.high, m.middle, (
                       SELECT e.{column} > $6 FROM forklore.event e WHERE e.tenant = $1
                         AND e.family = $2 AND e.session = $3 AND {key} = m.middle) AS reached
                   FROM search s, LATERAL (SELECT (s.low + s.high) / 2 AS middle) m
                   WHERE s.low < s.high) t
         ) SELECT low FROM search WHERE low >= high"
    );
    let (family, than) = (history.session.family(), signed(than));
    let values = [
        text(&database.tenant),
        text(&family),
        text(&part.session),
        number(&part.from),
        number(&part.to),
        number(&than),
    ];
    let row = database.connection.row(&sql, &values)?;
    row.map_or_else(|| Err(history.hole(part.from)), |row| Ok(row.try_get(0)?))
}

/// Reads the events with the seqs from `from` to `to`, all of which must be there.
pub(crate) fn range(
    database: Database<'_>,
    history: &History,
    from: i64,
    to: i64,
    bare: bool,
) -> Result<Vec<LogEntry>> {
    let parts = history.parts(from, to);
    let rows = rows(database, history, &parts, bare, None)?;
    let mut entries = Vec::with_capacity(rows.len());
    for (row, seq) in rows.iter().zip(from..) {
        let (entry, found) = entry(row, bare)?;
        if found != seq {
            return Err(history.hole(seq));
        }
        entries.push(entry);
    }
    let read = signed(entries.len() as u64);
    if from + read <= to { Err(history.hole(from + read)) } else { Ok(entries) }
}

/// Returns the events with this id, the earliest first.
fn named(database: Database<'_>, history: &History, id: &EventId, query: &Query) -> Result<Page> {
    let parts = history.parts(0, history.session.header.head_seq());
    let limit = query.limit.max(1);
    let rows = rows(database, history, &parts, query.bare, Some((id, limit)))?;
    let more = rows.len() > limit;
    let events = rows.iter().take(limit).map(|row| Ok(entry(row, query.bare)?.0));
    Ok(Page { events: events.collect::<Result<_>>()?, more })
}

/// Reads the rows of the ranges in the order of the history, each with its seq there in the last
/// column. With an id, reads only events that have it: at most one more than the limit.
fn rows(
    database: Database<'_>,
    history: &History,
    parts: &[Part],
    bare: bool,
    id: Option<(&EventId, usize)>,
) -> Result<Vec<Row>> {
    if parts.is_empty() {
        return Ok(Vec::new());
    }
    let data = if bare { "" } else { ", e.data" };
    let (named, limit) = match id {
        Some((_, limit)) => ("AND e.id = $7", format!("LIMIT {}", limit.saturating_add(1))),
        None => ("AND ($7::text IS NULL)", String::new()),
    };
    let of_part = "e.tenant = $1 AND e.family = $2 AND e.session = p.session";
    let sql = format!(
        "SELECT found.* FROM unnest($3::text[], $4::bool[], $5::int8[], $6::int8[])
             AS p (session, own, low, high),
         LATERAL (
             SELECT {COLUMNS}{data}, e.seq AS at FROM forklore.event e
             WHERE p.own AND {of_part} AND e.seq BETWEEN p.low AND p.high {named}
             UNION ALL
             SELECT {COLUMNS}{data}, e.kept FROM forklore.event e
             WHERE NOT p.own AND {of_part} AND e.class < 3 AND e.kept BETWEEN p.low AND p.high {named}
         ) found ORDER BY found.at {limit}"
    );
    let family = history.session.family();
    let sessions: Vec<_> = parts.iter().map(|part| part.session.as_str()).collect();
    let own: Vec<_> = parts.iter().map(|part| part.own).collect();
    let (low, high): (Vec<_>, Vec<_>) = parts.iter().map(|part| (part.from, part.to)).unzip();
    let id = id.map(|(id, _)| id.as_str());
    let values = [
        text(&database.tenant),
        text(&family),
        texts(&sessions),
        truths(&own),
        numbers(&low),
        numbers(&high),
        text(&id),
    ];
    database.connection.rows(&sql, &values)
}

/// Reads a row of [`rows`]. Returns the event with its seq in the history.
fn entry(row: &Row, bare: bool) -> Result<(LogEntry, i64)> {
    let stored = Stored::of(row, bare)?;
    let seq: i64 = row.try_get(row.len() - 1)?;
    let Stored { counts, origin, event, .. } = stored;
    Ok((LogEntry { seq: unsigned(seq), origin, counts, event }, seq))
}

/// Returns the tool calls that are open after the first `inheritable` inheritable events. Reads
/// backwards to where none was open.
pub(crate) fn open_calls(
    database: Database<'_>,
    history: &History,
    inheritable: u64,
) -> Result<Vec<OpenCall>> {
    // Without its session_fork, the inherited part of a child has these numbers as seqs.
    let mut effects = Vec::new();
    let mut part = history.base(inheritable);
    let mut high = signed(inheritable);
    while let (Some((session, _)), true) = (&part, high > 0) {
        let low = (high - OPEN_PAGE).max(0);
        let found = effects_of(database, history, session, low + 1, high)?;
        for (open, effect) in found {
            if open == 0 {
                high = 0;
                break;
            }
            effects.push(effect);
            high -= 1;
        }
        part = history.base(unsigned(high));
    }
    let mut open = OpenCalls::default();
    effects.iter().rev().for_each(|effect| open.step(effect));
    Ok(open.calls().cloned().collect())
}

/// Returns the effects of those inheritable events that a session has, the last first, each with
/// how many calls are open after it.
fn effects_of(
    database: Database<'_>,
    history: &History,
    session: &str,
    from: i64,
    to: i64,
) -> Result<Vec<(i64, Effect)>> {
    let sql = "SELECT open, starts_turn, calls, kept FROM forklore.event
         WHERE tenant = $1 AND family = $2 AND session = $3 AND class < 3 AND kept BETWEEN $4 AND $5
         ORDER BY kept DESC";
    let family = history.session.family();
    let values =
        [text(&database.tenant), text(&family), text(&session), number(&from), number(&to)];
    let rows = database.connection.rows(sql, &values)?;
    if rows.is_empty() {
        return Err(history.hole(to));
    }
    let mut found = Vec::with_capacity(rows.len());
    for (row, at) in rows.iter().zip((from..=to).rev()) {
        if row.try_get::<_, i64>(3)? != at {
            break;
        }
        let calls: Option<String> = row.try_get(2)?;
        let effect = effect(row.try_get(1)?, calls.as_deref());
        let effect = effect.map_err(|error| Fault::damaged(session, None, error))?;
        found.push((row.try_get(0)?, effect));
    }
    Ok(found)
}

/// Returns the seqs of the redacted events that are stored with a session.
pub(crate) fn redacted(database: Database<'_>, id: &SessionId) -> Result<Vec<u64>> {
    let session = database.living(id)?;
    let sql = "SELECT seq FROM forklore.event
         WHERE tenant = $1 AND family = $2 AND session = $3 AND left(data, $4::int4) = $5 ORDER BY seq";
    let (family, name) = (session.family(), id.as_str());
    let length = signed(REDACTED_PREFIX.len() as u64);
    let values = [
        text(&database.tenant),
        text(&family),
        text(&name),
        number(&length),
        text(&REDACTED_PREFIX),
    ];
    let rows = database.connection.rows(sql, &values)?;
    rows.iter().map(|row| Ok(unsigned(row.try_get(0)?))).collect()
}
