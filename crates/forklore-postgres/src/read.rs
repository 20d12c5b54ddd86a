//! Reads pages of a session's history.

use forklore_core::redaction::REDACTED_PREFIX;
use forklore_core::{Effect, EventId, OpenCall, OpenCalls, SessionId};
use forklore_store::port::{At, Direction, LogEntry, Page, Query};
use tokio_postgres::Row;

use crate::connection::{Statement, number, numbers, text, texts, truths};
use crate::database::{Database, Lock, Lookup};
use crate::event::{COLUMNS, Stored, effect};
use crate::fault::{Fault, Result};
use crate::history::{History, Part};
use crate::number::{signed, unsigned};
use crate::recent::Recent;
use crate::session::Session;

/// How many events at once are searched backwards for the calls that are open at a cut.
const OPEN_PAGE: i64 = 256;

/// Reads a page of the history of a session. Takes one round trip if the process has seen the present
/// rows of the session and its ancestors, and the page begins at a seq. Takes more otherwise.
///
/// `check` refuses a session that must not be read.
pub(crate) fn page(
    database: Database<'_>,
    recent: &Recent,
    id: &SessionId,
    query: &Query,
    check: impl Fn(&Session) -> Result<()>,
) -> Result<Page> {
    let seen = recent.history(id);
    let seen = seen.as_ref().map(|history| remembered(database, history, query));
    let (session, ancestors, page) = match seen.transpose()? {
        Some(Seen { session, ancestors, page }) => (session, ancestors, page),
        None => (database.session(id)?, None, None),
    };
    check(&session)?;
    let history = match ancestors {
        Some(rows) => History::read(session, &rows)?,
        None => History::of(database, session)?,
    };
    recent.put_history(&history);
    if let Some((of, page)) = page
        && of.ancestors == history.ancestors
    {
        return Ok(page);
    }
    if let At::Id(id) = &query.at {
        return named(database, &history, id, query);
    }
    let Some(start) = start(database, &history, query)? else { return Ok(Page::default()) };
    let extent = Extent::from(start, &history, query);
    let events = range(database, &history, extent.from, extent.to, query.bare)?;
    Ok(extent.page(events, query))
}

/// What one look found of a session that the process has seen before.
struct Seen<'h> {
    session: Session,
    /// The rows of its ancestors, if it still has the same.
    ancestors: Option<Vec<Row>>,
    /// The page, if the row of the session is the one that was seen, with the history for which it is
    /// right.
    page: Option<(&'h History, Page)>,
}

/// Reads the row of a session, those of its ancestors and the page that is right if all are as the
/// process remembers them, at the same time.
fn remembered<'h>(database: Database<'_>, history: &'h History, query: &Query) -> Result<Seen<'h>> {
    let before = &history.session;
    let start = match query.at {
        At::Seq(_) => start(database, history, query)?,
        _ => None,
    };
    let extent = start.map(|start| Extent::from(start, history, query));
    let wanted = extent.as_ref().map(|extent| Wanted::of(history, extent.from, extent.to));
    let lookup = Lookup::of([&before.header.id], Lock::None);
    let (tenant, family) = (database.tenant, before.family());
    let ancestors = History::ancestors(&tenant, &family, before);
    let inherits = ancestors.is_some();
    let mut statements = vec![lookup.statement(&tenant)];
    statements.extend(ancestors);
    statements.extend(wanted.as_ref().map(|wanted| wanted.statement(&tenant, query.bare)));
    let mut results = database.connection.all(&statements)?.into_iter();
    let session = match results.next().unwrap_or_default().first() {
        Some(row) => Session::of(row)?,
        // The second look says why it is not there.
        None => database.session(&before.header.id)?,
    };
    let ancestors = if inherits { results.next().unwrap_or_default() } else { Vec::new() };
    let ancestors = (session.origin == before.origin).then_some(ancestors);
    let is_same = session.is_same_row(before)?;
    let page = match (extent, results.next()) {
        (Some(extent), Some(rows)) if is_same => {
            let events = entries(history, &rows, extent.from, extent.to, query.bare)?;
            Some((history, extent.page(events, query)))
        }
        _ => None,
    };
    Ok(Seen { session, ancestors, page })
}

/// The events of a page: the first and the last seq.
struct Extent {
    from: i64,
    to: i64,
    head: i64,
}

impl Extent {
    /// Returns the events of a page that begins at `start`.
    fn from(start: i64, history: &History, query: &Query) -> Self {
        let head = history.session.header.head_seq();
        let count = signed(query.limit.max(1) as u64) - 1;
        let (from, to) = match query.direction {
            Direction::Forward => (start, start.saturating_add(count).min(head)),
            Direction::Backward => (start.saturating_sub(count).max(0), start),
        };
        Self { from, to, head }
    }

    fn page(&self, events: Vec<LogEntry>, query: &Query) -> Page {
        let more = match query.direction {
            Direction::Forward => self.to < self.head,
            Direction::Backward => self.from > 0,
        };
        let mut page = Page { events, more };
        if query.direction == Direction::Backward {
            page.events.reverse();
        }
        page
    }
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
    let wanted = Wanted::of(history, from, to);
    let Statement { sql, values } = wanted.statement(&database.tenant, bare);
    let rows = database.connection.rows(&sql, &values)?;
    entries(history, &rows, from, to, bare)
}

/// Reads the rows of the events with the seqs from `from` to `to`.
fn entries(
    history: &History,
    rows: &[Row],
    from: i64,
    to: i64,
    bare: bool,
) -> Result<Vec<LogEntry>> {
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
    let limit = query.limit.max(1);
    let wanted = Wanted {
        named: Some((id.as_str(), limit.saturating_add(1))),
        ..Wanted::of(history, 0, history.session.header.head_seq())
    };
    let Statement { sql, values } = wanted.statement(&database.tenant, query.bare);
    let rows = database.connection.rows(&sql, &values)?;
    let more = rows.len() > limit;
    let events = rows.iter().take(limit).map(|row| Ok(entry(row, query.bare)?.0));
    Ok(Page { events: events.collect::<Result<_>>()?, more })
}

/// Ranges of a history whose events are wanted, as columns.
struct Wanted<'h> {
    family: &'h str,
    sessions: Vec<String>,
    /// Whether the range counts in seqs of the session.
    own: Vec<bool>,
    low: Vec<i64>,
    high: Vec<i64>,
    /// An id that the events must have, and the most that are wanted.
    named: Option<(&'h str, usize)>,
}

impl<'h> Wanted<'h> {
    fn of(history: &'h History, from: i64, to: i64) -> Self {
        let parts = history.parts(from, to);
        let family = history.session.family();
        let own = parts.iter().map(|part| part.own).collect();
        let (low, high) = parts.iter().map(|part| (part.from, part.to)).unzip();
        let sessions = parts.into_iter().map(|part| part.session).collect();
        Self { family, sessions, own, low, high, named: None }
    }

    /// Returns the statement for the rows of the events in the order of the history, each with its
    /// seq there in the last column.
    fn statement<'a>(&'a self, tenant: &'a &str, bare: bool) -> Statement<'a> {
        let data = if bare { "" } else { ", e.data" };
        let limit = self.named.map(|(_, most)| format!("LIMIT {most}")).unwrap_or_default();
        let named = |at: usize| match self.named {
            Some(_) => format!("AND e.id = ${at}"),
            None => String::new(),
        };
        let columns = format!("SELECT {COLUMNS}{data}");
        let from = "FROM forklore.event e WHERE e.tenant = $1 AND e.family = $2 AND";
        let mut values = vec![text(tenant), text(&self.family)];
        let sql = if let ([session], [own], [low], [high]) =
            (&*self.sessions, &*self.own, &*self.low, &*self.high)
        {
            values.extend([text(session), number(low), number(high)]);
            let (seq, only) = if *own { ("e.seq", "") } else { ("e.kept", "AND e.class < 3") };
            format!(
                "{columns}, {seq} AS at {from} e.session = $3 {only} AND {seq} BETWEEN $4 AND $5
                 {named} ORDER BY {seq} {limit}",
                named = named(6),
            )
        } else {
            values.extend([texts(&self.sessions), truths(&self.own)]);
            values.extend([numbers(&self.low), numbers(&self.high)]);
            let named = named(7);
            // The limits say nothing new, but with them the database reads each range by its index.
            let part = |own: &str, seq: &str, only: &str| {
                format!(
                    "({columns}, {seq} AS at {from} {own} AND e.session = p.session {only}
                      AND {seq} BETWEEN p.low AND p.high {named} ORDER BY {seq}
                      LIMIT p.high - p.low + 1)"
                )
            };
            let (own, inherited) =
                (part("p.own", "e.seq", ""), part("NOT p.own", "e.kept", "AND e.class < 3"));
            format!(
                "SELECT found.* FROM unnest($3::text[], $4::bool[], $5::int8[], $6::int8[])
                     AS p (session, own, low, high),
                 LATERAL ({own} UNION ALL {inherited}) found ORDER BY found.at {limit}"
            )
        };
        values.extend(self.named.as_ref().map(|(id, _)| text(id)));
        Statement::new(sql, values)
    }
}

/// Reads a row of [`Wanted`]. Returns the event with its seq in the history.
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
