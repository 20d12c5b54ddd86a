//! Stores an event as a row of its own: writes, checks and reads its columns.

use forklore_core::{CallStep, Class, Counts, Data, Effect, Event};
use forklore_store::port::Direction;
use rusqlite::types::ValueRef;
use rusqlite::{CachedStatement, Connection};

use crate::crc;
use crate::fault::{Fault, Result};
use crate::integer::{signed, timestamp, unsigned};
use crate::row_key::Next;
use crate::write_tx::WriteTx;

/// The columns of an event's row that [`read`] expects, in this order. If the payload is requested,
/// the column `payload` follows.
pub(crate) const COLUMNS: &str = "k, id, ts, type, class, \
    (SELECT name FROM dialect WHERE number = event.dialect), kept, idx, turns, bytes, open, \
    starts_turn, calls, origin_session, origin_seq, crc";

const PAYLOAD: usize = 16;

/// An event as it is stored, with its key, counts and origin.
pub(crate) struct Row {
    pub(crate) k: i64,
    /// The counts of the event's segment (a group of events stored together), up to and including
    /// the event.
    pub(crate) counts: Counts,
    /// `None` unless the event is a copy. For a copy: the number of the session that first wrote
    /// the event, and the event's seq in that session.
    pub(crate) origin: Option<(i64, u64)>,
    pub(crate) event: Event,
}

/// All that a store knows of an event besides the event itself. The fields are those of [`Row`].
#[derive(Clone, Copy)]
pub(crate) struct Slot {
    pub(crate) k: i64,
    pub(crate) counts: Counts,
    pub(crate) origin: Option<(i64, u64)>,
}

impl Row {
    pub(crate) fn slot(&self) -> Slot {
        Slot { k: self.k, counts: self.counts, origin: self.origin }
    }
}

/// Receives the events of a visit, one after the other.
pub(crate) trait Visitor {
    /// Receives the event that `event` decodes. `slot` is what else the store knows of the event.
    ///
    /// The argument is a function and not an event, so that a visitor can decode the event directly
    /// to its final place. An event that was just written takes long to copy, because the processor
    /// has to wait until all its fields are written.
    fn event(&mut self, slot: Slot, event: impl FnOnce() -> Result<Event>) -> Result<Next>;
}

/// A visitor that calls a closure.
pub(crate) struct Each<F>(pub(crate) F);

impl<F: FnMut(Row) -> Result<Next>> Visitor for Each<F> {
    #[inline]
    fn event(&mut self, slot: Slot, event: impl FnOnce() -> Result<Event>) -> Result<Next> {
        let Slot { k, counts, origin } = slot;
        self.0(Row { k, counts, origin, event: event()? })
    }
}

/// The columns of an event's row with the types in which SQLite stores them. The payload is left
/// out.
struct Columns<'a> {
    k: i64,
    id: &'a [u8],
    ts: i64,
    kind: &'a [u8],
    class: i64,
    dialect: Option<&'a [u8]>,
    counts: [i64; 5],
    starts_turn: i64,
    calls: Option<&'a [u8]>,
    origin: Option<(i64, i64)>,
}

impl Columns<'_> {
    fn sum(&self) -> u32 {
        crc::Fields::default()
            .number(Some(self.k))
            .bytes(Some(self.id))
            .number(Some(self.ts))
            .bytes(Some(self.kind))
            .number(Some(self.class))
            .bytes(self.dialect)
            .numbers(&self.counts)
            .number(Some(self.starts_turn))
            .bytes(self.calls)
            .number(self.origin.map(|origin| origin.0))
            .number(self.origin.map(|origin| origin.1))
            .sum()
    }
}

/// Returns a description of the event row whose key is `k`, for error messages.
pub(crate) fn location(k: i64) -> String {
    format!("event row {k} (segment {}, position {})", k >> 32, k & 0xffff_ffff)
}

/// Prepares a query for the event rows with keys from the first parameter (inclusive) to the second
/// (exclusive). If `inherited` is set, selects only events that children inherit. If `bare` is set,
/// leaves out the payloads. [`read`] reads a row of its result.
pub(crate) fn prepare(
    conn: &Connection,
    inherited: bool,
    direction: Direction,
    bare: bool,
) -> rusqlite::Result<CachedStatement<'_>> {
    conn.prepare_cached(&format!(
        "SELECT {COLUMNS}{} FROM event WHERE k >= ? AND k < ?{} ORDER BY k{}",
        if bare { "" } else { ", payload" },
        if inherited { " AND class < 3" } else { "" },
        if direction == Direction::Backward { " DESC" } else { "" },
    ))
}

/// Inserts an event into the table `event`, as a row of its own and not in a chunk.
pub(crate) fn insert(tx: &WriteTx<'_>, row: &Row) -> Result<()> {
    let Event { id, ts, kind, class, dialect, effect, data } = &row.event;
    let calls = match effect.calls.as_slice() {
        [] => None,
        steps => Some(
            serde_json::to_string(steps)
                .map_err(|error| Fault::damaged(location(row.k), &error))?,
        ),
    };
    let origin = row.origin.map(|(session, seq)| (session, signed(seq)));
    let columns = Columns {
        k: row.k,
        id: id.as_str().as_bytes(),
        ts: ts.as_microsecond(),
        kind: kind.as_str().as_bytes(),
        class: i64::from(class.code()),
        dialect: dialect.as_deref().map(str::as_bytes),
        counts: stored_counts(&row.counts),
        starts_turn: i64::from(effect.starts_turn),
        calls: calls.as_deref().map(str::as_bytes),
        origin,
    };
    let sums = crc::join(columns.sum(), crc::payload(data.get().as_bytes()));
    let number = dialect.as_deref().map(|name| dialect_number(tx, name)).transpose()?;
    let [stored, index, turns, bytes, open] = columns.counts;
    tx.write(
        "INSERT INTO event (k, id, ts, type, class, dialect, kept, idx, turns, bytes, open,
             starts_turn, calls, origin_session, origin_seq, crc, payload)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        &[
            &columns.k,
            &id.as_str(),
            &columns.ts,
            &kind.as_str(),
            &columns.class,
            &number,
            &stored,
            &index,
            &turns,
            &bytes,
            &open,
            &columns.starts_turn,
            &calls,
            &origin.map(|origin| origin.0),
            &origin.map(|origin| origin.1),
            &sums,
            &data.get(),
        ],
    )?;
    Ok(())
}

/// Reads the event rows with keys from `from` (inclusive) to `to` (exclusive), with their payloads.
pub(crate) fn between(conn: &Connection, from: i64, to: i64) -> Result<Vec<Row>> {
    let mut statement = prepare(conn, false, Direction::Forward, false)?;
    let mut rows = statement.query([from, to])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(read(row, false)?);
    }
    Ok(found)
}

/// Erases the event rows with keys from `first` to `last`, both inclusive. Returns how many it
/// erased.
pub(crate) fn erase(tx: &WriteTx<'_>, first: i64, last: i64) -> Result<usize> {
    Ok(tx.write("DELETE FROM event WHERE k BETWEEN ? AND ?", &[&first, &last])?)
}

fn dialect_number(tx: &WriteTx<'_>, name: &str) -> Result<i64> {
    let number_of = "SELECT number FROM dialect WHERE name = ?";
    let mut find = tx.prepare_cached(number_of)?;
    if let Some(row) = find.query([name])?.next()? {
        return Ok(row.get(0)?);
    }
    tx.write("INSERT INTO dialect (name) VALUES (?)", &[&name])?;
    Ok(tx.last_insert_rowid())
}

pub(crate) fn stored_counts(counts: &Counts) -> [i64; 5] {
    let Counts { inheritable: stored, index, turns, bytes, open } = *counts;
    [stored, index, turns, bytes, open].map(signed)
}

/// Reads the five counts of an event from consecutive columns of a row. `first` is the index of the
/// first column.
pub(crate) fn counts(row: &rusqlite::Row<'_>, first: usize) -> Result<Counts> {
    let count = |at| unsigned(row.get(first + at)?);
    Ok(Counts {
        inheritable: count(0)?,
        index: count(1)?,
        turns: count(2)?,
        bytes: count(3)?,
        open: count(4)?,
    })
}

/// Checks and reads an event's row, which has the columns [`COLUMNS`]. Unless `bare` is set, also
/// reads the payload, which must be the next column.
pub(crate) fn read(row: &rusqlite::Row<'_>, bare: bool) -> Result<Row> {
    let k: i64 = row.get(0)?;
    let columns = columns(row, k)?;
    let damaged = |message: String| Fault::damaged(location(k), &message);
    let (sum, payload_sum) = crc::split(row.get(15)?);
    if columns.sum() != sum {
        return Err(damaged("its fields do not fit their checksum".into()));
    }
    let data = if bare {
        Data::null()
    } else {
        let bytes = bytes(row, PAYLOAD)?.unwrap_or_default();
        if crc::payload(bytes) != payload_sum {
            return Err(damaged("its payload does not fit its checksum".into()));
        }
        Data::from_checked(text(bytes).map_err(damaged)?)
    };
    event(&columns, data).map_err(damaged).and_then(|event| {
        let origin = columns.origin.map(|(session, seq)| Ok::<_, Fault>((session, unsigned(seq)?)));
        Ok(Row { k, counts: counts(row, 6)?, origin: origin.transpose()?, event })
    })
}

/// Computes the checksums that an event's row should have. The row must have the columns
/// [`COLUMNS`] and the payload.
pub(crate) fn sums(row: &rusqlite::Row<'_>) -> Result<i64> {
    let payload = bytes(row, PAYLOAD)?.unwrap_or_default();
    Ok(crc::join(columns(row, row.get(0)?)?.sum(), crc::payload(payload)))
}

fn columns<'a>(row: &'a rusqlite::Row<'_>, k: i64) -> Result<Columns<'a>> {
    let origin: (Option<i64>, Option<i64>) = (row.get(13)?, row.get(14)?);
    Ok(Columns {
        k,
        id: bytes(row, 1)?.unwrap_or_default(),
        ts: row.get(2)?,
        kind: bytes(row, 3)?.unwrap_or_default(),
        class: row.get(4)?,
        dialect: bytes(row, 5)?,
        counts: [row.get(6)?, row.get(7)?, row.get(8)?, row.get(9)?, row.get(10)?],
        starts_turn: row.get(11)?,
        calls: bytes(row, 12)?,
        origin: origin.0.zip(origin.1),
    })
}

fn event(columns: &Columns<'_>, data: Data) -> Result<Event, String> {
    let class = u8::try_from(columns.class).ok().and_then(Class::from_code);
    let calls: Vec<CallStep> = match columns.calls {
        None => Vec::new(),
        Some(bytes) => serde_json::from_slice(bytes).map_err(|error| error.to_string())?,
    };
    Ok(Event {
        id: text(columns.id)?.parse().map_err(|_| "its id is no id")?,
        ts: timestamp(columns.ts).map_err(|_| "its time is no time")?,
        kind: text(columns.kind)?.parse().map_err(|_| "its type is no type")?,
        class: class.ok_or("its class is unknown")?,
        dialect: columns.dialect.map(text).transpose()?.map(Into::into),
        effect: Effect { starts_turn: columns.starts_turn != 0, calls },
        data,
    })
}

fn text(bytes: &[u8]) -> Result<&str, String> {
    std::str::from_utf8(bytes).map_err(|error| error.to_string())
}

fn bytes<'a>(row: &'a rusqlite::Row<'_>, at: usize) -> Result<Option<&'a [u8]>> {
    match row.get_ref(at)? {
        ValueRef::Null => Ok(None),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Ok(Some(bytes)),
        other => Err(Fault::damaged("event", &format!("column {at} is {}", other.data_type()))),
    }
}
