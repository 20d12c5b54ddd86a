//! Compresses the events of idle families.

use forklore_store::Result as StoreResult;
use forklore_store::port::Direction;
use jiff::Timestamp;
use rusqlite::Connection;

use super::budget::Budget;
use crate::chunk::{self, Codec, Sealed};
use crate::fault::Result;
use crate::row::{self, Row};
use crate::segment::{Segment, key};
use crate::store::{Durable, SqliteStore};
use crate::write_tx::WriteTx;

/// Size in bytes at which a batch of events is complete: the total length of their payloads. One
/// transaction packs one batch.
const BATCH_BYTES: usize = 1 << 20;
/// Maximum number of chunks (rows with several events each) that one transaction compresses.
const BATCH_CHUNKS: usize = 16;

/// SQL that selects the segments with uncompressed events in idle families. A family is idle if no
/// session in it was updated since the time in the parameter.
const COLD: &str = "
    WITH family (root) AS (SELECT root FROM session GROUP BY root HAVING max(updated) < ?),
         segment (sid) AS (
             SELECT sid FROM session WHERE root IN family
             UNION ALL SELECT id FROM private_segment WHERE heartbeat IS NULL AND root IN family)
    SELECT sid FROM segment WHERE
        EXISTS (SELECT 1 FROM event WHERE k >= sid << 32 AND k < (sid + 1) << 32)
        OR EXISTS (SELECT 1 FROM chunk
                   WHERE k >= sid << 32 AND k < (sid + 1) << 32 AND codec = 0)";

/// Compresses the events of families (sessions with one root) in which no session was updated since
/// `cold`. Stops when `budget` is exhausted. Returns how many events it compressed.
pub(super) fn compress(
    store: &SqliteStore,
    cold: Timestamp,
    budget: &mut Budget<'_>,
) -> StoreResult<u64> {
    let segments = store.read_with("reading", |conn| {
        let mut statement = conn.prepare(COLD)?;
        let rows = statement.query_map([cold.as_microsecond()], |row| row.get(0))?;
        Ok(rows.collect::<rusqlite::Result<Vec<Segment>>>()?)
    })?;
    let mut events = 0;
    for segment in segments {
        events += chunks(store, segment, budget)? + rows(store, segment, budget)?;
    }
    Ok(events)
}

/// One batch of rows that were read for packing. `found` is what will be written. `behind` is the
/// key after the last row that was read, or `None` if there were no rows.
struct Batch<T> {
    behind: Option<i64>,
    found: Vec<T>,
}

/// Compresses the uncompressed chunks of a segment, until `budget` is exhausted. Returns how many
/// events it compressed.
fn chunks(store: &SqliteStore, segment: Segment, budget: &mut Budget<'_>) -> StoreResult<u64> {
    let mut from = Some(key(segment, 0));
    let mut events = 0;
    while let Some(first) = from.filter(|_| budget.allows(1)) {
        let to = key(segment + 1, 0);
        let batch = store.read_with("reading", |conn| plain(conn, first, to))?;
        from = batch.behind;
        if !batch.found.is_empty() {
            let packed = store.write_with(Durable::WithNext, "packing events in", |tx| {
                let written = batch.found.iter().map(|(sum, sealed)| sealed.replace(tx, *sum));
                written.sum::<Result<u64>>()
            })?;
            budget.spend(packed);
            events += packed;
        }
    }
    Ok(events)
}

/// Reads at most [`BATCH_CHUNKS`] uncompressed chunks, and compresses them. Their keys are from
/// `first` (inclusive) to `to` (exclusive). Returns each compressed chunk with the checksum of its
/// stored row. The checksum later shows whether the row has changed. Skips damaged chunks.
fn plain(conn: &Connection, first: i64, to: i64) -> Result<Batch<(u32, Sealed)>> {
    let mut batch = Batch { behind: None, found: Vec::new() };
    for k in chunk::plain(conn, first, to, BATCH_CHUNKS)? {
        batch.behind = Some(k + 1);
        match chunk::one(conn, k, u64::MAX, |chunk| chunk.recoded(Codec::Zstd)) {
            Ok(recoded) => batch.found.extend(recoded.flatten()),
            Err(fault) if fault.is_of_one_row() => {}
            Err(fault) => return Err(fault),
        }
    }
    Ok(batch)
}

/// Moves the segment's events that have rows of their own into compressed chunks. Stops when
/// `budget` is exhausted. Skips damaged events, and events that cannot form a chunk. Returns how
/// many events it moved.
fn rows(store: &SqliteStore, segment: Segment, budget: &mut Budget<'_>) -> StoreResult<u64> {
    let mut from = Some(key(segment, 0));
    let mut events = 0;
    while let Some(first) = from.filter(|_| budget.allows(1)) {
        let to = key(segment + 1, 0);
        let batch = store.read_with("reading", |conn| single(conn, first, to))?;
        from = batch.behind;
        let found: Vec<&Row> = batch.found.iter().collect();
        let runs: Vec<_> = chunk::runs(&found, usize::MAX).collect();
        if runs.is_empty() {
            continue;
        }
        let packed = store.write_with(Durable::WithNext, "packing events in", |tx| {
            let written = runs.iter().map(|run| move_unchanged(tx, run));
            written.sum::<Result<u64>>()
        })?;
        budget.spend(packed);
        events += packed;
    }
    Ok(events)
}

/// Moves adjacent event rows into one chunk. Returns the number of moved events. Moves none and
/// returns 0 if some of the rows no longer exist, or were redacted since they were read.
fn move_unchanged(tx: &WriteTx<'_>, run: &[&Row]) -> Result<u64> {
    let (Some(first), Some(last)) = (run.first(), run.last()) else { return Ok(0) };
    let stored = match row::between(tx, first.k, last.k + 1) {
        Err(fault) if fault.is_of_one_row() => return Ok(0),
        stored => stored?,
    };
    if !stored.iter().map(|row| &row.event).eq(run.iter().map(|row| &row.event)) {
        return Ok(0);
    }
    chunk::write_run(tx, run, Codec::Zstd)
}

/// Reads event rows with keys from `first` (inclusive) to `to` (exclusive), until their payloads
/// have [`BATCH_BYTES`] bytes in total.
fn single(conn: &Connection, first: i64, to: i64) -> Result<Batch<Row>> {
    let mut batch = Batch { behind: None, found: Vec::new() };
    let mut statement = row::prepare(conn, false, Direction::Forward, false)?;
    let mut rows = statement.query([first, to])?;
    let mut bytes = 0;
    while bytes < BATCH_BYTES
        && let Some(found) = rows.next()?
    {
        batch.behind = Some(found.get::<_, i64>(0)? + 1);
        match row::read(found, false) {
            Ok(row) => {
                bytes += row.event.data.get().len();
                batch.found.push(row);
            }
            Err(fault) if fault.is_of_one_row() => {}
            Err(fault) => return Err(fault),
        }
    }
    Ok(batch)
}
