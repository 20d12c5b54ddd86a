//! Reads, writes and erases rows of the `chunk` table.

use forklore_core::Counts;
use forklore_store::port::Direction;
use rusqlite::{CachedStatement, Connection, Row as SqlRow, params};

use super::Chunk;
use super::body::{self, Bodies, Codec};
use super::envelopes;
use super::outline::{Bits, Outline};
use crate::crc::Fields;
use crate::fault::{Fault, Result};
use crate::integer::{signed, unsigned};
use crate::row::{Each, Row};
use crate::row_key::{self, Next, POSITIONS, Range, Segment, key};
use crate::write_tx::WriteTx;

/// The columns of the table `chunk` that contain a chunk's positions and counts.
const OUTLINE: &str = "k, positions, kept, idx, turns, bytes, there, inherited, indexed, started";
const CODEC: usize = 10;
const SUM: usize = 11;
const HEADS: usize = 12;

/// The SQL condition that a chunk overlaps a range of positions. [`overlap`] returns the values of
/// its parameters.
const OVERLAP: &str = "k >= ?1 AND k < ?3 AND k + positions > ?2";

/// Prepares a query for the chunks that overlap a range of positions. [`overlap`] returns the
/// values of its parameters, and [`read`] reads a row of its result.
pub(crate) fn prepare(
    conn: &Connection,
    direction: Direction,
) -> rusqlite::Result<CachedStatement<'_>> {
    conn.prepare_cached(&format!(
        "SELECT {OUTLINE}, codec, crc, heads FROM chunk WHERE {OVERLAP} ORDER BY k{}",
        if direction == Direction::Backward { " DESC" } else { "" },
    ))
}

/// Returns the parameters for an SQL query that selects the chunks which overlap `range`.
pub(crate) fn overlap(range: Range) -> [i64; 3] {
    let Range { segment, from, to, .. } = range;
    let first = from.saturating_sub(POSITIONS - 1);
    [key(segment, first), key(segment, from), key(segment, to)]
}

/// Returns the positions and counts of the first chunk that overlaps the range, or `None` if no
/// chunk does. Does not check the chunk's checksum, because the checksum also covers the encoded
/// events, which are not read here.
pub(crate) fn first(conn: &Connection, range: Range) -> Result<Option<Outline>> {
    let sql = format!("SELECT {OUTLINE} FROM chunk WHERE {OVERLAP} ORDER BY k LIMIT 1");
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query(overlap(range))?;
    rows.next()?.map(outline).transpose()
}

/// Returns the end (exclusive) of the positions in the segment's last chunk, or 0 if the segment
/// has no chunk.
pub(crate) fn end(conn: &Connection, segment: Segment) -> Result<u64> {
    let sql = format!("SELECT {OUTLINE} FROM chunk WHERE k >= ? AND k < ? ORDER BY k DESC LIMIT 1");
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query([key(segment, 0), key(segment + 1, 0)])?;
    Ok(rows.next()?.map(outline).transpose()?.map_or(0, |last| last.end()))
}

fn outline(row: &SqlRow<'_>) -> Result<Outline> {
    let count = |at| unsigned(row.get(at)?);
    let bits = |at| Ok::<_, Fault>(row.get::<_, i64>(at)?.cast_unsigned());
    let k = row.get(0)?;
    let positions = count(1)?;
    if !(1..=POSITIONS).contains(&positions) {
        return Err(damaged(k, &format!("it cannot have {positions} positions")));
    }
    Ok(Outline {
        k,
        positions,
        start: Counts {
            inheritable: count(2)?,
            index: count(3)?,
            turns: count(4)?,
            bytes: count(5)?,
            open: 0,
        },
        bits: Bits { there: bits(6)?, inherited: bits(7)?, indexed: bits(8)?, started: bits(9)? },
    })
}

/// Checks a chunk's row that [`prepare`] selected. The result gives the requested events without
/// their payloads. `requested` receives the chunk's outline (its positions and counts) and returns
/// one bit for each event to read.
pub(crate) fn read<'r>(
    row: &'r SqlRow<'_>,
    requested: impl FnOnce(&Outline) -> u64,
) -> Result<Chunk<'r>> {
    let outline = outline(row)?;
    let damaged = |message: String| damaged(outline.k, &message);
    let (code, stored_sum): (i64, i64) = (row.get(CODEC)?, row.get(SUM)?);
    let heads = row.get_ref(HEADS)?.as_bytes().map_err(|error| damaged(error.to_string()))?;
    let sum = sum(&outline, code, heads);
    if i64::from(sum) != stored_sum {
        return Err(damaged("its fields do not fit their checksum".into()));
    }
    let codec = Codec::of(code).map_err(damaged)?;
    let (names, heads) = envelopes::read(&outline, heads).map_err(damaged)?;
    let requested = requested(&outline) & outline.all();
    Ok(Chunk { outline, codec, sum, requested, names, heads, body: None })
}

/// Computes the checksum that a chunk's row should have. The row comes from a query of [`prepare`].
pub(crate) fn sum_of(row: &SqlRow<'_>) -> Result<u32> {
    let heads = row.get_ref(HEADS)?.as_bytes().unwrap_or_default();
    Ok(sum(&outline(row)?, row.get(CODEC)?, heads))
}

fn sum(outline: &Outline, codec: i64, heads: &[u8]) -> u32 {
    Fields::default().numbers(&numbers(outline)).number(Some(codec)).bytes(Some(heads)).sum()
}

fn numbers(outline: &Outline) -> [i64; 10] {
    let Outline { k, positions, start, bits } = outline;
    let Bits { there, inherited, indexed, started } = bits;
    let [stored, index, turns, bytes] =
        [start.inheritable, start.index, start.turns, start.bytes].map(signed);
    let [there, inherited, indexed, started] =
        [there, inherited, indexed, started].map(|bits| bits.cast_signed());
    [*k, signed(*positions), stored, index, turns, bytes, there, inherited, indexed, started]
}

/// Returns the fault for damage in the chunk whose key is `k`. `message` says what is wrong.
pub(super) fn damaged(k: i64, message: &str) -> Fault {
    let (segment, position) = (row_key::of(k), row_key::position(k));
    Fault::damaged(format!("chunk row {k} (segment {segment}, from position {position})"), message)
}

/// A new chunk that is encoded but not yet written.
pub(crate) struct Sealed {
    outline: Outline,
    codec: Codec,
    heads: Vec<u8>,
    body: Vec<u8>,
}

impl Sealed {
    /// Encodes consecutive event rows as a chunk. Returns `None` if a row's counts do not follow
    /// from those of the row before it, because a chunk stores counts as one bit per event.
    pub(crate) fn of(rows: &[&Row], codec: Codec) -> Option<Self> {
        Self::with(Outline::of(rows)?, rows, &[], codec)
    }

    /// Encodes a chunk with this outline. `rows` are its events without the erased ones. `sums` are
    /// the checksums to store for the payloads, in the order of `rows`. The checksums of payloads
    /// without an entry in `sums` are computed. Returns `None` if the events cannot be encoded, for
    /// example because a payload is too long.
    fn with(outline: Outline, rows: &[&Row], sums: &[u32], codec: Codec) -> Option<Self> {
        let (heads, body) = (envelopes::write(rows, sums)?, body::write(codec, rows).ok()?);
        Some(Self { outline, codec, heads, body })
    }

    /// Replaces the stored chunk that has the same key, but only if its checksum is still
    /// `earlier`. Returns the number of events in the new chunk, or 0 if nothing was written.
    pub(crate) fn replace(&self, tx: &WriteTx<'_>, earlier: u32) -> Result<u64> {
        let k = self.outline.k;
        let sql = "SELECT 1 FROM chunk WHERE k = ? AND crc = ?";
        if !tx.prepare_cached(sql)?.exists([k, i64::from(earlier)])? {
            return Ok(0);
        }
        self.insert(tx)?;
        Ok(u64::from(self.outline.bits.there.count_ones()))
    }

    /// Writes the chunk. Replaces a chunk that has the same key.
    pub(crate) fn insert(&self, tx: &WriteTx<'_>) -> Result<()> {
        let numbers = numbers(&self.outline);
        let [k, positions, stored, index, turns, bytes, there, inherited, indexed, started] =
            &numbers;
        let sum = i64::from(sum(&self.outline, self.codec.code(), &self.heads));
        tx.write(
            "INSERT OR REPLACE INTO chunk (k, positions, kept, idx, turns, bytes, there, inherited,
                 indexed, started, codec, crc, heads, body)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            &[
                k,
                positions,
                stored,
                index,
                turns,
                bytes,
                there,
                inherited,
                indexed,
                started,
                &self.codec.code(),
                &sum,
                &self.heads,
                &self.body,
            ],
        )?;
        Ok(())
    }
}

/// Erases the events of a segment from position `from` on (inclusive) that are stored in chunks.
/// Events with rows of their own remain. Returns the number of erased events.
pub(crate) fn erase_from(tx: &WriteTx<'_>, segment: Segment, from: u64) -> Result<u64> {
    let (first, behind) = (key(segment, from), key(segment + 1, 0));
    // A chunk that begins before `from` may extend beyond it. The query does not use the stored
    // number of positions to find such a chunk, because that number is not checked yet.
    let near = key(segment, from.saturating_sub(POSITIONS - 1));
    let (mut erased, mut before) = (0, Vec::new());
    {
        let mut statement =
            tx.prepare_cached("SELECT k, there FROM chunk WHERE k >= ? AND k < ?")?;
        let mut rows = statement.query([near, behind])?;
        while let Some(row) = rows.next()? {
            let (k, there): (i64, i64) = (row.get(0)?, row.get(1)?);
            if k < first {
                before.push(k);
            } else {
                // A chunk that is erased as a whole need not be intact, so it is not read.
                erased += u64::from(there.cast_unsigned().count_ones());
            }
        }
    }
    tx.write("DELETE FROM chunk WHERE k >= ? AND k < ?", &[&first, &behind])?;
    for k in before {
        let outline = one(tx, k, 0, |chunk| Ok(chunk.outline))?;
        let outline = outline.ok_or_else(|| damaged(k, "it has no positions"))?;
        if outline.end() > from {
            erased += store(tx, k, outline.up_to(from))?;
        }
    }
    Ok(erased)
}

/// Erases the events of a segment that children do not inherit and that are stored in chunks.
/// Events with rows of their own remain. Returns the number of erased events.
pub(crate) fn erase_own(tx: &WriteTx<'_>, segment: Segment) -> Result<u64> {
    let sql =
        format!("SELECT {OUTLINE} FROM chunk WHERE k >= ? AND k < ? AND there & ~inherited <> 0");
    let mut found = Vec::new();
    {
        let mut statement = tx.prepare_cached(&sql)?;
        let mut rows = statement.query([key(segment, 0), key(segment + 1, 0)])?;
        while let Some(row) = rows.next()? {
            found.push(outline(row)?);
        }
    }
    let mut erased = 0;
    for mut outline in found {
        outline.bits.there &= outline.bits.inherited;
        erased += store(tx, outline.k, outline)?;
    }
    Ok(erased)
}

/// Erases from the stored chunk whose key is `k` all events that are not in `outline`. Returns the
/// number of erased events.
fn store(tx: &WriteTx<'_>, k: i64, outline: Outline) -> Result<u64> {
    // A damaged payload must not prevent the erasure of other events. It is written back with its
    // old checksum, so that it still counts as damaged.
    let read = one(tx, k, outline.bits.there, |chunk| {
        let (before, codec) = (chunk.outline.bits.there.count_ones(), chunk.codec);
        Ok((before, codec, chunk.unchecked()?))
    })?;
    let (before, codec, events) = read.ok_or_else(|| damaged(k, "it is missing"))?;
    let (rows, sums): (Vec<_>, Vec<_>) = events.into_iter().unzip();
    let rows: Vec<_> = rows.iter().collect();
    let after = outline.bits.there.count_ones();
    if rows.is_empty() {
        tx.write("DELETE FROM chunk WHERE k = ?", &[&k])?;
    } else {
        let sealed = Sealed::with(outline, &rows, &sums, codec);
        sealed.ok_or_else(|| damaged(k, "it cannot be written again"))?.insert(tx)?;
    }
    Ok(u64::from(before.saturating_sub(after)))
}

/// Takes the event with the key `k` out of its chunk, and returns it. The caller gives it a row of
/// its own. The events before and after it stay together in chunks of their own if possible.
/// Returns `None` if no chunk contains the event.
pub(crate) fn take_out(tx: &WriteTx<'_>, k: i64) -> Result<Option<Row>> {
    let (segment, from) = (row_key::of(k), row_key::position(k));
    let range = Range { segment, from, to: from + 1, inherited: false };
    let Some(found) = first(tx, range)? else { return Ok(None) };
    let read = one(tx, found.k, u64::MAX, |chunk| Ok((chunk.codec, chunk.unchecked()?)))?;
    let (codec, events) = read.ok_or_else(|| damaged(found.k, "it is missing"))?;
    let Some(at) = events.iter().position(|(row, _)| row.k == k) else { return Ok(None) };
    tx.write("DELETE FROM chunk WHERE k = ?", &[&found.k])?;
    let (before, rest) = events.split_at(at);
    let Some((event, after)) = rest.split_first() else { return Ok(None) };
    for part in [before, after] {
        for run in part.chunk_by(|(row, _), (next, _)| next.k == row.k + 1) {
            put_back(tx, run, codec)?;
        }
    }
    Ok(Some(copied(&event.0)))
}

/// Writes adjacent events of a former chunk: as a chunk with the stored checksums, so that a damaged
/// payload still counts as damaged, or else as rows.
fn put_back(tx: &WriteTx<'_>, run: &[(Row, u32)], codec: Codec) -> Result<()> {
    let rows: Vec<&Row> = run.iter().map(|(row, _)| row).collect();
    let sums: Vec<u32> = run.iter().map(|(_, sum)| *sum).collect();
    let outline = Outline::of(&rows);
    if let Some(sealed) = outline.and_then(|outline| Sealed::with(outline, &rows, &sums, codec)) {
        return sealed.insert(tx);
    }
    for (row, sum) in run {
        if crate::crc::payload(row.event.data.get().as_bytes()) != *sum {
            return Err(damaged(row.k, "its payload does not fit its checksum"));
        }
        crate::row::insert(tx, row)?;
    }
    Ok(())
}

fn copied(row: &Row) -> Row {
    let Row { k, counts, origin, event } = row;
    Row { k: *k, counts: *counts, origin: *origin, event: event.clone() }
}

/// Returns the keys of uncompressed chunks, in ascending order and at most `most`. The keys are at
/// least `from` and less than `to`.
pub(crate) fn plain(conn: &Connection, from: i64, to: i64, most: usize) -> Result<Vec<i64>> {
    let sql = "SELECT k FROM chunk WHERE k >= ? AND k < ? AND codec = 0 ORDER BY k LIMIT ?";
    let mut statement = conn.prepare_cached(sql)?;
    let rows = statement.query_map(params![from, to, most as i64], |row| row.get(0))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

impl Chunk<'_> {
    /// Encodes the chunk again with `codec`. Also returns the chunk's stored checksum, which
    /// [`Sealed::replace`] needs. Returns `None` if the payloads cannot be encoded.
    pub(crate) fn recoded(self, codec: Codec) -> Result<Option<(u32, Sealed)>> {
        let (outline, sum) = (self.outline, self.sum);
        let mut rows = Vec::new();
        let mut each = Each(|row| {
            rows.push(row);
            Ok(Next::Row)
        });
        self.visit(Direction::Forward, &mut each)?;
        let rows: Vec<_> = rows.iter().collect();
        Ok(Sealed::with(outline, &rows, &[], codec).map(|sealed| (sum, sealed)))
    }
}

/// Reads the chunk whose key is `k`, but only the events whose bits are set in `requested`. Returns
/// what `take` returns for this chunk, or `None` if there is no such chunk.
pub(crate) fn one<T>(
    conn: &Connection,
    k: i64,
    requested: u64,
    take: impl FnOnce(Chunk<'_>) -> Result<T>,
) -> Result<Option<T>> {
    let mut statement = prepare(conn, Direction::Forward)?;
    let mut rows = statement.query([k, k, k + 1])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    take(read(row, |_| requested)?.with_payloads(&mut Bodies::of(conn))?).map(Some)
}
