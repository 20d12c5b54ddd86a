//! Reads and erases the events of a segment, which are in rows of their own or in chunks.
//!
//! A segment contains the events that one session wrote. A private segment contains a copy of
//! events that sessions inherit. Each event of a segment has a position, counted from 0. After a
//! delete, positions may be missing.

use forklore_core::lineage::Unit;
use forklore_core::{Event, EventId};
use forklore_store::port::Direction;
use rusqlite::fallible_streaming_iterator::FallibleStreamingIterator;
use rusqlite::{Connection, Rows, params};

use crate::chunk::{self, Outline};
use crate::fault::{Fault, Result};
use crate::integer::unsigned;
use crate::row::{self, Each, Row, Slot, Visitor};
pub(crate) use crate::row_key::{LAST_POSITION, Next, Range, Segment, key, of, position};
use crate::write_tx::WriteTx;

/// Says which events the callback of [`visit`] needs: how many, and whether with their payloads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    /// The number of events that the callback needs. The callback receives at least this many if
    /// the range has them, and must then stop the visit.
    pub(crate) most: usize,
    /// Whether the callback receives the events without their payloads.
    pub(crate) bare: bool,
}

impl Wanted {
    /// Requests all events with their payloads.
    pub(crate) const ALL: Self = Self { most: usize::MAX, bare: false };
    /// Requests all events without their payloads.
    pub(crate) const BARE: Self = Self { most: usize::MAX, bare: true };
}

/// Calls `visit` for each event of `range`, in the order of `direction`. Stops early if `visit`
/// returns [`Next::Stop`]. Stops at the end of the current chunk if `visit` returns
/// [`Next::Chunk`].
pub(crate) fn visit(
    conn: &Connection,
    range: Range,
    direction: Direction,
    wanted: Wanted,
    visit: impl FnMut(Row) -> Result<Next>,
) -> Result<Next> {
    visit_with(conn, range, direction, wanted, &mut Each(visit))
}

/// Does the same as [`visit`] with a visitor instead of a closure.
pub(crate) fn visit_with(
    conn: &Connection,
    range: Range,
    direction: Direction,
    wanted: Wanted,
    visitor: &mut impl Visitor,
) -> Result<Next> {
    let Wanted { most, bare } = wanted;
    let mut visitor = Order { range, direction, last: None, visitor };
    let mut statement = row::prepare(conn, range.inherited, direction, bare)?;
    let keys = [key(range.segment, range.from), key(range.segment, range.to)];
    let mut single = Single { rows: statement.query(keys)?, direction, bare };
    single.rows.advance()?;
    let mut bodies = chunk::Bodies::of(conn);
    let mut chunks = chunk::prepare(conn, direction)?;
    let mut chunks = chunks.query(chunk::overlap(range))?;
    while let Some(found) = chunks.next()? {
        if single.before(Some(found.get(0)?), &mut visitor)? != Next::Row {
            return Ok(Next::Stop);
        }
        let count = |outline: &Outline| outline.requested(range, direction, most);
        let mut chunk = chunk::read(found, count)?;
        if !bare {
            chunk = chunk.with_payloads(&mut bodies)?;
        }
        if chunk.visit(direction, &mut visitor)? != Next::Row {
            return Ok(Next::Stop);
        }
    }
    single.before(None, &mut visitor)
}

/// Checks that a visit of a range finds its events in their order, and passes them on. In a damaged
/// file, SQLite may find rows of another range, or the same rows again and again.
struct Order<'v, V> {
    range: Range,
    direction: Direction,
    last: Option<i64>,
    visitor: &'v mut V,
}

impl<V: Visitor> Visitor for Order<'_, V> {
    #[inline(always)]
    fn event(&mut self, slot: Slot, event: impl FnOnce() -> Result<Event>) -> Result<Next> {
        self.check(slot.k)?;
        self.visitor.event(slot, event)
    }
}

impl<V> Order<'_, V> {
    /// Checks that the event with the key `k` is in the range, and that it follows the previous
    /// event in the order of reading.
    #[inline]
    fn check(&mut self, k: i64) -> Result<()> {
        let Range { segment, from, to, .. } = self.range;
        let follows = self.last.replace(k).is_none_or(|last| match self.direction {
            Direction::Forward => last < k,
            Direction::Backward => last > k,
        });
        if follows && (key(segment, from)..key(segment, to)).contains(&k) {
            return Ok(());
        }
        let message = format!("it was found in segment {segment}, where it is not next");
        Err(Fault::damaged(row::location(k), &message))
    }
}

/// A cursor over the events of a range that have rows of their own and are not in chunks.
struct Single<'s> {
    rows: Rows<'s>,
    direction: Direction,
    bare: bool,
}

impl Single<'_> {
    /// Visits the remaining events that come before `key` in the direction of the cursor. If `key`
    /// is `None`, visits all remaining events. Stops early unless the visitor returns
    /// [`Next::Row`].
    fn before(&mut self, key: Option<i64>, visitor: &mut impl Visitor) -> Result<Next> {
        while let Some(found) = self.rows.get() {
            let k: i64 = found.get(0)?;
            let is_before = key.is_none_or(|key| match self.direction {
                Direction::Forward => k < key,
                Direction::Backward => k > key,
            });
            if !is_before {
                return Ok(Next::Row);
            }
            let row = row::read(found, self.bare)?;
            if visitor.event(row.slot(), || Ok(row.event))? != Next::Row {
                return Ok(Next::Stop);
            }
            self.rows.advance()?;
        }
        Ok(Next::Row)
    }
}

/// Returns the events in the range whose event id is `id`, ordered by position.
pub(crate) fn named(conn: &Connection, range: Range, id: &EventId, bare: bool) -> Result<Vec<Row>> {
    let mut positions = Vec::new();
    visit(conn, range, Direction::Forward, Wanted::BARE, |row| {
        if row.event.id == *id {
            positions.push(position(row.k));
        }
        Ok(Next::Row)
    })?;
    let mut found = Vec::with_capacity(positions.len());
    for from in positions {
        let (range, wanted) = (Range { from, to: from + 1, ..range }, Wanted { most: 1, bare });
        visit(conn, range, Direction::Forward, wanted, |row| {
            found.push(row);
            Ok(Next::Stop)
        })?;
    }
    Ok(found)
}

/// Returns the event at a position of a segment, without its payload. Returns `None` if the
/// position has no event.
pub(crate) fn at(conn: &Connection, segment: Segment, position: u64) -> Result<Option<Row>> {
    let range = Range { segment, from: position, to: position + 1, inherited: false };
    let mut found = None;
    visit(conn, range, Direction::Forward, Wanted { most: 1, bare: true }, |row| {
        found = Some(row);
        Ok(Next::Stop)
    })?;
    Ok(found)
}

/// The values of one running count at a group of adjacent events, for a search. The group is a
/// chunk (a row with several events), or a single event that has a row of its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    /// The position of the first event of this run in its segment.
    pub(crate) from: u64,
    /// The end (exclusive) of the positions of this run.
    to: u64,
    /// The running count before the first event of this run.
    before: u64,
    /// The events of this run (adjacent events) that increase the running count, with one bit per
    /// position. The lowest bit is that of the first event.
    counted: u64,
}

impl Run {
    /// Returns the value of the running count after the last event of this run (a group of adjacent
    /// events).
    fn count(&self) -> u64 {
        self.before + u64::from(self.counted.count_ones())
    }

    /// Returns the position of the event at which the running count reaches `want`. Returns `None`
    /// if that event is not in this run.
    fn reaching(&self, want: u64) -> Option<u64> {
        let nth = want.checked_sub(self.before)?.checked_sub(1)?;
        let rest = (0..nth).fold(self.counted, |bits, _| bits & bits.wrapping_sub(1));
        (rest != 0).then(|| self.from + u64::from(rest.trailing_zeros()))
    }
}

/// Returns the position of the event in `range` at which the segment's running count of `unit`
/// reaches `want`. `total` is the running count at the end of `range`. The search interpolates
/// between counts that it has already read. Every third step halves the interval instead, so that
/// the search takes O(log n) steps even if the counts grow unevenly. If that event is missing,
/// returns the position of a later event in `range`, or `None`.
pub(crate) fn search(
    conn: &Connection,
    range: Range,
    unit: Unit,
    want: u64,
    total: u64,
) -> Result<Option<u64>> {
    let (mut low, mut high) = (range.from, range.to);
    let (mut below, mut above) = (0, total);
    let mut found = None;
    let mut step = 0;
    while low < high {
        step += 1;
        let middle = if step % 3 == 0 || above <= below {
            low + (high - low) / 2
        } else {
            let (part, whole) = (u128::from(want.saturating_sub(below)), u128::from(above - below));
            let guess = u128::from(high - low) * part / whole;
            (low + u64::try_from(guess).unwrap_or(high)).saturating_sub(1).clamp(low, high - 1)
        };
        let run = probe(conn, range.segment, middle, high, unit)?;
        if run.is_some_and(|run| run.to <= middle || run.from >= high) {
            // The search would not come closer to its end, and might never reach it.
            let location = format!("segment {}, position {middle}", range.segment);
            return Err(Fault::damaged(location, "another position was found there"));
        }
        match run {
            Some(run) if run.count() < want => (low, below) = (run.to, run.count()),
            Some(run) if run.before < want => {
                return Ok(run.reaching(want).filter(|at| (range.from..range.to).contains(at)));
            }
            Some(run) => {
                (high, above) = (middle.min(run.from), run.before);
                found = Some(run.from);
            }
            None => high = middle,
        }
    }
    Ok(found)
}

/// Reads the running count of `unit` (events or turns) at the first event in a range of positions.
/// The range is from `from` (inclusive) to `to` (exclusive). If the event is in a chunk, the result
/// covers the whole chunk. Returns `None` if the range has no event.
pub(crate) fn probe(
    conn: &Connection,
    segment: Segment,
    from: u64,
    to: u64,
    unit: Unit,
) -> Result<Option<Run>> {
    let range = Range { segment, from, to, inherited: false };
    let sealed = chunk::first(conn, range)?.map(|outline| Run {
        from: outline.first(),
        to: outline.end(),
        before: unit.of(&outline.start),
        counted: outline.counted(unit),
    });
    if sealed.is_some_and(|run| run.from <= from) {
        return Ok(sealed);
    }
    let mut statement = conn.prepare_cached(match unit {
        Unit::Inheritable => {
            "SELECT k, kept, class < 3 FROM event WHERE k >= ? AND k < ? ORDER BY k LIMIT 1"
        }
        Unit::Index => {
            "SELECT k, idx, class = 0 FROM event WHERE k >= ? AND k < ? ORDER BY k LIMIT 1"
        }
        Unit::Turns => {
            "SELECT k, turns, starts_turn FROM event WHERE k >= ? AND k < ? ORDER BY k LIMIT 1"
        }
    })?;
    let to = sealed.map_or(to, |run| run.from);
    let mut rows = statement.query(params![key(segment, from), key(segment, to)])?;
    let Some(row) = rows.next()? else {
        return Ok(sealed);
    };
    let (from, count) = (position(row.get(0)?), unsigned(row.get(1)?)?);
    let counted = u64::from(row.get::<_, bool>(2)?);
    Ok(Some(Run { from, to: from + 1, before: count.saturating_sub(counted), counted }))
}

/// Returns the ids of the events at `n` consecutive positions, beginning at `from`. Skips positions
/// without an event.
pub(crate) fn ids(
    conn: &Connection,
    segment: Segment,
    from: u64,
    n: usize,
) -> Result<Vec<EventId>> {
    let range = Range { segment, from, to: from.saturating_add(n as u64), inherited: false };
    let mut ids = Vec::new();
    visit(conn, range, Direction::Forward, Wanted::BARE, |row| {
        ids.push(row.event.id);
        Ok(Next::Row)
    })?;
    Ok(ids)
}

/// Returns the position after the last event of a segment, or 0 if the segment has no event.
pub(crate) fn end(conn: &Connection, segment: Segment) -> Result<u64> {
    let sql = "SELECT max(k) FROM event WHERE k >= ? AND k < ?";
    let (from, to) = (key(segment, 0), key(segment + 1, 0));
    let last: Option<i64> = conn.prepare_cached(sql)?.query_row([from, to], |row| row.get(0))?;
    Ok(last.map_or(0, |k| position(k) + 1).max(chunk::end(conn, segment)?))
}

/// Erases the events of a segment from position `from` on, inclusive. Returns the number of erased
/// events.
pub(crate) fn erase_from(tx: &WriteTx<'_>, segment: Segment, from: u64) -> Result<u64> {
    let erased = tx.write(
        "DELETE FROM event WHERE k >= ? AND k < ?",
        &[&key(segment, from), &key(segment + 1, 0)],
    )?;
    Ok(erased as u64 + chunk::erase_from(tx, segment, from)?)
}

/// Erases the events of a segment that children do not inherit, i.e. those of the classes audit and
/// lineage. Returns how many it erased.
pub(crate) fn erase_own(tx: &WriteTx<'_>, segment: Segment) -> Result<u64> {
    let erased = tx.write(
        "DELETE FROM event WHERE k >= ? AND k < ? AND class >= 3",
        &[&key(segment, 0), &key(segment + 1, 0)],
    )?;
    Ok(erased as u64 + chunk::erase_own(tx, segment)?)
}
