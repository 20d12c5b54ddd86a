//! Reads an assembled history, a page at a time.

use std::borrow::Cow;

use forklore_core::lineage::Unit;
use forklore_core::{Event, OpenCalls, Origin, SessionId};
use forklore_store::Error;
use forklore_store::port::{At, Direction, LogEntry, Page, Query};
use rusqlite::Connection;

use crate::fault::{Fault, Result};
use crate::history::{History, Stretch};
use crate::origin::{Identities, Writers};
use crate::read_cache::ReadCache;
use crate::row::{Row, Slot, Visitor};
use crate::row_key::POSITIONS;
use crate::segment::{self, Next, Range, Wanted};
use crate::session;

/// Size at which a page of read events is complete: the total length of their payloads in bytes.
/// The event that reaches this size is still included, with the rest of its chunk. With this limit,
/// a reader of many pages reuses the same memory, which stays in the processor's cache.
const PAGE_BYTES: usize = 1 << 20;

/// A query with at least this limit gets a page that ends with a whole chunk, even if the page then
/// has fewer events than the limit. Otherwise the next page would have to read the same chunk
/// again.
const LONG_PAGE: usize = 256;

/// Maximum number of events for which a page reserves memory before they are read.
const RESERVED: usize = 512;

/// Reads a page of a session's history: the events that `query` selects.
pub(crate) fn page(
    conn: &Connection,
    id: &SessionId,
    query: &Query,
    identities: &Identities,
    cache: &mut ReadCache,
) -> Result<Page> {
    cache.look(conn)?;
    let history = match cache.take(id) {
        Some(history) => history,
        None => History::of(conn, Cow::Owned(session::living(conn, id)?))?,
    };
    let page = page_of(conn, &history, query, identities)?;
    let bytes = page.events.iter().map(|stored| stored.event.data.get().len());
    cache.payload_bytes = cache.payload_bytes.saturating_add(bytes.sum());
    cache.insert(history);
    Ok(page)
}

/// Reads like [`page`], but also a session in the trash. Such reads are rare, so they use no cache.
pub(crate) fn page_in_trash(
    conn: &Connection,
    id: &SessionId,
    query: &Query,
    identities: &Identities,
) -> Result<Page> {
    let history = History::of(conn, Cow::Owned(session::unerased(conn, id)?))?;
    page_of(conn, &history, query, identities)
}

fn page_of(
    conn: &Connection,
    history: &History<'_>,
    query: &Query,
    found: &Identities,
) -> Result<Page> {
    let mut reader = Reader::new(conn, history, query, found);
    if let At::Id(event) = &query.at {
        return reader.named(event);
    }
    let Some(start) = reader.start()? else {
        return Ok(Page::default());
    };
    reader.from(start)?;
    reader.check_first()?;
    let more = match (query.direction, reader.events.last()) {
        (_, None) => false,
        (Direction::Forward, Some(last)) => {
            last.seq < history.session.header.head_seq().unsigned_abs()
        }
        (Direction::Backward, Some(last)) => last.seq > 0,
    };
    Ok(Page { events: reader.events, more })
}

/// Returns the tool calls that are open (still without a result) directly after the event `seq`.
pub(crate) fn open_calls(conn: &Connection, history: &History<'_>, seq: i64) -> Result<OpenCalls> {
    let Ok(start) = u64::try_from(seq) else {
        return Ok(OpenCalls::default());
    };
    let at = At::Seq(start);
    let query = Query { at, direction: Direction::Backward, limit: usize::MAX, bare: true };
    let identities = Identities::default();
    let mut reader = Reader::new(conn, history, &query, &identities);
    // Reading goes backward and may stop at an event after which no call is open: the later events
    // alone determine which calls are open.
    reader.until_closed = true;
    reader.from(start)?;
    let effects = reader.events.into_iter().rev().map(|stored| stored.event.effect);
    Ok(effects.collect())
}

/// Returns the inheritable events of a session's history after the first `from`, up to and
/// including the `to`th. The counts of each row cover the whole history up to the event, because
/// the rows will be stored in a segment that is a copy of the history. Each row names the event's
/// origin: the session that first wrote it.
pub(crate) fn inheritable(
    conn: &Connection,
    id: &SessionId,
    from: u64,
    to: u64,
) -> Result<Vec<Row>> {
    let history = History::of(conn, Cow::Owned(session::living(conn, id)?))?;
    let identities = Identities::default();
    let mut rows = Vec::new();
    let Some(mut seq) = history.seq_of(conn, Unit::Inheritable, from + 1)? else {
        return Ok(rows);
    };
    while (rows.len() as u64) < to - from {
        let stretch = history.stretch(conn, seq)?;
        let position = history.position(conn, &stretch, seq)?;
        let range = Range { from: position, inherited: true, ..stretch.range };
        let mut writers = Writers::of(&identities);
        segment::visit(conn, range, Direction::Forward, Wanted::ALL, |row| {
            let counts = row.counts.based_on(stretch.base);
            if counts.inheritable > to {
                return Ok(Next::Stop);
            }
            let origin = Some(writers.numbered(conn, row.slot())?);
            rows.push(Row { counts, origin, ..row });
            Ok(Next::Row)
        })
        .map_err(|fault| fault.of(id, None))?;
        if !stretch.range.inherited {
            break;
        }
        seq = stretch.seqs.1 + 1;
    }
    if rows.len() as u64 != to - from {
        let missing = format!("inheritable events {} to {to}", from + rows.len() as u64 + 1);
        return Err(Error::MissingAncestor { session: id.clone(), missing }.into());
    }
    Ok(rows)
}

/// Adds the events of a stretch to the page that is being read.
struct Taking<'t, 'a> {
    reader: &'t mut Reader<'a>,
    stretch: &'t Stretch,
    /// The seq that the next event must have.
    expected: u64,
    backward: bool,
}

impl Visitor for Taking<'_, '_> {
    #[inline(always)]
    fn event(&mut self, slot: Slot, event: impl FnOnce() -> Result<Event>) -> Result<Next> {
        let seq = self.reader.seq(self.stretch, &slot);
        if seq != self.expected {
            return Ok(Next::Stop);
        }
        let next = self.reader.take(self.stretch, seq, slot, event)?;
        self.expected = if self.backward { seq.wrapping_sub(1) } else { seq + 1 };
        Ok(next)
    }
}

struct Reader<'a> {
    conn: &'a Connection,
    history: &'a History<'a>,
    query: &'a Query,
    until_closed: bool,
    events: Vec<LogEntry>,
    bytes: usize,
    writers: Writers<'a>,
}

impl<'a> Reader<'a> {
    fn new(
        conn: &'a Connection,
        history: &'a History<'a>,
        query: &'a Query,
        identities: &'a Identities,
    ) -> Self {
        Self {
            conn,
            history,
            query,
            until_closed: false,
            events: Vec::new(),
            bytes: 0,
            writers: Writers::of(identities),
        }
    }

    fn start(&self) -> Result<Option<u64>> {
        let Ok(head) = u64::try_from(self.history.session.header.head_seq()) else {
            return Ok(None);
        };
        let (unit, want) = match self.query.at {
            At::Seq(seq) if seq <= head => return Ok(Some(seq)),
            At::Seq(_) => return Ok((self.query.direction == Direction::Backward).then_some(head)),
            At::Inheritable(count) => (Unit::Inheritable, count),
            At::Index(index) => (Unit::Index, index.saturating_add(1)),
            At::Turn(turn) => (Unit::Turns, turn),
            At::Id(_) => return Ok(None),
        };
        self.history.seq_of(self.conn, unit, want)
    }

    /// Checks that the first event that was read is the one at which the query should begin. If
    /// stored counts are wrong, the search may have found another event.
    fn check_first(&self) -> Result<()> {
        let Some(LogEntry { seq, counts, .. }) = self.events.first() else { return Ok(()) };
        let found = match self.query.at {
            At::Inheritable(count) => counts.inheritable == count,
            At::Index(index) => counts.index == index.saturating_add(1),
            At::Turn(turn) => counts.turns == turn,
            At::Seq(_) | At::Id(_) => true,
        };
        if found {
            return Ok(());
        }
        let id = &self.history.session.header.id;
        let location = format!("what leads to {:?}", self.query.at);
        Err(Fault::damaged(location, "it leads to another event").of(id, Some(*seq)))
    }

    /// Reads the events of the history from the event `start` on, in the query's direction. It
    /// reads one segment after the other, until the page is full.
    fn from(&mut self, start: u64) -> Result<()> {
        let head = self.history.session.header.head_seq().unsigned_abs();
        let mut seq = Some(start);
        while let Some(at) = seq {
            let stretch = self.history.stretch(self.conn, at)?;
            if self.stretch(&stretch, at)? == Next::Stop {
                return Ok(());
            }
            seq = match self.query.direction {
                Direction::Forward => Some(stretch.seqs.1 + 1).filter(|next| *next <= head),
                Direction::Backward => stretch.seqs.0.checked_sub(1),
            };
        }
        Ok(())
    }

    fn stretch(&mut self, stretch: &Stretch, start: u64) -> Result<Next> {
        let (conn, direction) = (self.conn, self.query.direction);
        let most = self.query.limit.max(1).saturating_sub(self.events.len());
        let wanted = Wanted { most, bare: self.query.bare };
        let backward = direction == Direction::Backward;
        let (edge, last) = if backward { (stretch.seqs.1, stretch.seqs.0) } else { stretch.seqs };
        let mut range = stretch.range;
        if start != edge {
            let position = self.history.position(conn, stretch, start)?;
            if backward {
                range.to = position + 1;
            } else {
                range.from = position;
            }
        }
        let left = usize::try_from(start.abs_diff(last)).unwrap_or(RESERVED).saturating_add(1);
        self.events.reserve(left.min(most).min(RESERVED));
        let mut taking = Taking { reader: self, stretch, expected: start, backward };
        let next = segment::visit_with(conn, range, direction, wanted, &mut taking);
        let expected = taking.expected;
        let id = &self.history.session.header.id;
        let next = next.map_err(|fault| fault.of(id, Some(expected)))?;
        let behind_last = if backward { last.wrapping_sub(1) } else { last + 1 };
        if expected != behind_last && !self.is_full() {
            return Err(self.missing(stretch, expected));
        }
        Ok(if self.is_full() { Next::Stop } else { next })
    }

    /// Checks whether the page has all events that its reader wants.
    fn is_complete(&self) -> bool {
        self.events.len() >= self.query.limit.max(1)
            || self.until_closed && self.events.last().is_some_and(|last| last.counts.open == 0)
    }

    /// Checks whether no further chunk or row is read for the page.
    fn is_full(&self) -> bool {
        let limit = self.query.limit;
        let chunk_may_exceed = self.events.len() + POSITIONS as usize > limit;
        self.bytes >= PAGE_BYTES || limit >= LONG_PAGE && chunk_may_exceed || self.is_complete()
    }

    // Inlined so that the event is decoded into the page and not copied there.
    #[inline(always)]
    fn take(
        &mut self,
        stretch: &Stretch,
        seq: u64,
        slot: Slot,
        event: impl FnOnce() -> Result<Event>,
    ) -> Result<Next> {
        let origin = match slot.origin {
            // An own event needs no lookup: this session wrote it.
            None if !stretch.range.inherited => {
                Origin { session_id: self.history.session.header.id.clone(), seq }
            }
            _ => self.writers.origin(self.conn, slot)?,
        };
        let counts = slot.counts.based_on(stretch.base);
        let Event { id, ts, kind, class, dialect, effect, data } = event()?;
        self.bytes += data.get().len();
        let event = Event { id, ts, kind, class, dialect, effect, data };
        self.events.push(LogEntry { seq, origin, counts, event });
        Ok(if self.is_complete() {
            Next::Stop
        } else if self.is_full() {
            Next::Chunk
        } else {
            Next::Row
        })
    }

    #[inline]
    fn seq(&self, stretch: &Stretch, slot: &Slot) -> u64 {
        if stretch.range.inherited {
            stretch.base.inheritable + slot.counts.inheritable
        } else {
            self.history.session.header.seq_of_own(segment::position(slot.k))
        }
    }

    fn named(mut self, id: &forklore_core::EventId) -> Result<Page> {
        let limit = self.query.limit.max(1);
        let Ok(head) = u64::try_from(self.history.session.header.head_seq()) else {
            return Ok(Page::default());
        };
        let mut seq = 0;
        while seq <= head && self.events.len() <= limit {
            let stretch = self.history.stretch(self.conn, seq)?;
            for row in segment::named(self.conn, stretch.range, id, self.query.bare)? {
                let slot = row.slot();
                let at = self.seq(&stretch, &slot);
                self.take(&stretch, at, slot, || Ok(row.event))?;
            }
            seq = stretch.seqs.1 + 1;
        }
        let more = self.events.len() > limit;
        self.events.truncate(limit);
        Ok(Page { events: self.events, more })
    }

    fn missing(&self, stretch: &Stretch, seq: u64) -> Fault {
        let Range { segment, inherited, .. } = stretch.range;
        let id = &self.history.session.header.id;
        if inherited {
            let writer = session::identity(self.conn, segment).map(|writer| writer.id.to_string());
            let from = writer.unwrap_or_else(|_| format!("segment {segment}"));
            let missing = format!("event {seq}, which it has from {from}");
            return Error::MissingAncestor { session: id.clone(), missing }.into();
        }
        Fault::damaged(format!("segment {segment}"), "an event is missing").of(id, Some(seq))
    }
}
