//! Where the bytes of events lie: the one place that reads and writes the table of events.
//!
//! A segment is the events that one session wrote, or a private copy of a prefix, by position.
//! Positions may have gaps after a delete.

use forklore_model::EventId;
use forklore_model::lineage::Unit;
use forklore_store::port::Direction;
use rusqlite::{Connection, params};

use crate::fault::{Fault, Result};
use crate::number::{signed, unsigned};
use crate::row::{self, Row};
use crate::write::WriteTx;

/// The number of a segment; a session's is its `sid`.
pub(crate) type Segment = i64;

const POSITION_BITS: u32 = 32;

/// The last position a segment has room for.
pub(crate) const LAST_POSITION: u64 = (1 << POSITION_BITS) - 1;

/// The key of a position.
pub(crate) fn key(segment: Segment, position: u64) -> i64 {
    (segment << POSITION_BITS) | signed(position.min(LAST_POSITION))
}

/// The position of a key.
pub(crate) fn position(k: i64) -> u64 {
    (k & signed(LAST_POSITION)).unsigned_abs()
}

/// The segment of a key.
pub(crate) fn of(k: i64) -> Segment {
    k >> POSITION_BITS
}

/// Positions of one segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Range {
    pub(crate) segment: Segment,
    pub(crate) from: u64,
    /// Behind the last.
    pub(crate) to: u64,
    /// Whether events that are not inherited are passed over.
    pub(crate) inherited: bool,
}

/// What a visitor of rows wants next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    Row,
    Stop,
}

/// Adds an event.
pub(crate) fn insert(tx: &WriteTx<'_>, row: &Row) -> Result<()> {
    row::insert(tx, row)
}

/// Shows `visit` the events of the range in the direction, until it wants no more.
pub(crate) fn visit(
    conn: &Connection,
    range: Range,
    direction: Direction,
    bare: bool,
    mut visit: impl FnMut(Row) -> Result<Next>,
) -> Result<Next> {
    let sql = format!(
        "SELECT {}{} FROM event WHERE k >= ? AND k < ?{} ORDER BY k{}",
        row::COLUMNS,
        if bare { "" } else { ", payload" },
        if range.inherited { " AND class < 3" } else { "" },
        if direction == Direction::Backward { " DESC" } else { "" },
    );
    let mut statement = conn.prepare_cached(&sql)?;
    let (from, to) = (key(range.segment, range.from), key(range.segment, range.to));
    let mut rows = statement.query(params![from, to])?;
    while let Some(row) = rows.next()? {
        if visit(row::read(row, bare)?)? == Next::Stop {
            return Ok(Next::Stop);
        }
    }
    Ok(Next::Row)
}

/// The events of the range that have this id, in order.
pub(crate) fn named(conn: &Connection, range: Range, id: &EventId, bare: bool) -> Result<Vec<Row>> {
    let sql = format!(
        "SELECT {}{} FROM event WHERE k >= ? AND k < ? AND id = ?{} ORDER BY k",
        row::COLUMNS,
        if bare { "" } else { ", payload" },
        if range.inherited { " AND class < 3" } else { "" },
    );
    let mut statement = conn.prepare_cached(&sql)?;
    let (from, to) = (key(range.segment, range.from), key(range.segment, range.to));
    let mut rows = statement.query(params![from, to, id.as_str()])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(row::read(row, bare)?);
    }
    Ok(found)
}

/// The event at a position, its payload left out.
pub(crate) fn at(conn: &Connection, segment: Segment, position: u64) -> Result<Option<Row>> {
    let sql = format!("SELECT {} FROM event WHERE k = ?", row::COLUMNS);
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query([key(segment, position)])?;
    rows.next()?.map(|row| row::read(row, true)).transpose()
}

/// The first event at or behind `from` and before `to`, as far as a search needs it.
pub(crate) fn probe(
    conn: &Connection,
    segment: Segment,
    from: u64,
    to: u64,
    unit: Unit,
) -> Result<Option<Probe>> {
    let mut statement = conn.prepare_cached(match unit {
        Unit::Kept => {
            "SELECT k, kept, class < 3 FROM event WHERE k >= ? AND k < ? ORDER BY k LIMIT 1"
        }
        Unit::Index => {
            "SELECT k, idx, class = 0 FROM event WHERE k >= ? AND k < ? ORDER BY k LIMIT 1"
        }
        Unit::Turns => {
            "SELECT k, turns, starts_turn FROM event WHERE k >= ? AND k < ? ORDER BY k LIMIT 1"
        }
    })?;
    let mut rows = statement.query(params![key(segment, from), key(segment, to)])?;
    let Some(row) = rows.next()? else {
        return Ok(None);
    };
    let (k, count, counts_itself) = (row.get(0)?, row.get(1)?, row.get(2)?);
    Ok(Some(Probe { position: position(k), count: unsigned(count)?, counts_itself }))
}

/// An event as a search sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Probe {
    pub(crate) position: u64,
    /// The count searched by, up to and including the event.
    pub(crate) count: u64,
    /// Whether the event itself is one of those counted.
    pub(crate) counts_itself: bool,
}

/// The ids of the events at these positions, as far as there are any.
pub(crate) fn ids(conn: &Connection, segment: Segment, from: u64, n: usize) -> Result<Vec<String>> {
    let mut statement =
        conn.prepare_cached("SELECT id FROM event WHERE k >= ? AND k < ? ORDER BY k")?;
    let to = from.saturating_add(n as u64);
    let rows =
        statement.query_map(params![key(segment, from), key(segment, to)], |row| row.get(0))?;
    rows.map(|id| id.map_err(Fault::from)).collect()
}

/// The position behind the last event of a segment.
pub(crate) fn end(conn: &Connection, segment: Segment) -> Result<u64> {
    let sql = "SELECT max(k) FROM event WHERE k >= ? AND k < ?";
    let (from, to) = (key(segment, 0), key(segment + 1, 0));
    let last: Option<i64> = conn.prepare_cached(sql)?.query_row([from, to], |row| row.get(0))?;
    Ok(last.map_or(0, |k| position(k) + 1))
}

/// Erases what stands at or behind a position.
pub(crate) fn erase_from(tx: &WriteTx<'_>, segment: Segment, from: u64) -> Result<u64> {
    let erased = tx.write(
        "DELETE FROM event WHERE k >= ? AND k < ?",
        &[&key(segment, from), &key(segment + 1, 0)],
    )?;
    Ok(erased as u64)
}

/// Erases what nobody inherits: audit and lineage events.
pub(crate) fn erase_own(tx: &WriteTx<'_>, segment: Segment) -> Result<u64> {
    let erased = tx.write(
        "DELETE FROM event WHERE k >= ? AND k < ? AND class >= 3",
        &[&key(segment, 0), &key(segment + 1, 0)],
    )?;
    Ok(erased as u64)
}
