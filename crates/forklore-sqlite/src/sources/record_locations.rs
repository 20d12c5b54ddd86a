//! Finds where a record of a source is in the store (its session, and the position of its event) by
//! a hash of the record's native id.
//!
//! An entry consists of a key, which is such a hash, and the location of the record. Each import
//! step adds a run: a list of entries that is sorted by key and stored in rows of up to 256
//! entries, here called chunks. If the previous run is small, the step merges that run into the new
//! one. Keys are evenly distributed, so the chunk that contains a key can be guessed almost
//! exactly. A lookup searches the latest run first, then the earlier ones, and usually reads one or
//! two chunks of each.

use std::collections::BTreeMap;

use forklore_store::sources::{RecordKey, RecordLocation};
use rusqlite::{Connection, OptionalExtension};

use crate::crc::Fields;
use crate::fault::{Fault, Result};
use crate::integer::signed;
use crate::write_tx::WriteTx;

const ENTRY: usize = 16;
const CHUNK: usize = 256;
/// Minimum number of entries of a complete run. A run is a sorted list of record locations. The
/// next import step merges a smaller run with its own.
const SMALL: i64 = 1_024;

pub(super) fn add(
    tx: &WriteTx<'_>,
    source: i64,
    locations: &[(RecordKey, RecordLocation)],
) -> Result<()> {
    if locations.is_empty() {
        return Ok(());
    }
    let mut entries = BTreeMap::new();
    let last = runs(tx, source, 1)?.pop();
    if let Some((run, len)) = last.filter(|(_, len)| *len < SMALL) {
        for chunk in 0..chunks(len) {
            entries.extend(read(tx, run, chunk)?);
        }
        tx.write("DELETE FROM source_place WHERE k >= ?1 << 16 AND k < (?1 + 1) << 16", &[&run])?;
        tx.write("DELETE FROM source_run WHERE run = ?", &[&run])?;
    }
    entries.extend(locations.iter().copied());
    let len = signed(entries.len() as u64);
    tx.write("INSERT INTO source_run (source, entries, crc) VALUES (?, ?, 0)", &[&source, &len])?;
    let run = tx.last_insert_rowid();
    let sum = run_sum(run, source, len);
    tx.write("UPDATE source_run SET crc = ? WHERE run = ?", &[&sum, &run])?;
    let entries: Vec<_> = entries.into_iter().collect();
    for (chunk, entries) in (0..).zip(entries.chunks(CHUNK)) {
        let bytes: Vec<u8> = entries.iter().flat_map(|entry| to_bytes(*entry)).collect();
        let k = chunk_key(run, chunk);
        tx.write(
            "INSERT INTO source_place (k, entries, crc) VALUES (?, ?, ?)",
            &[&k, &bytes, &chunk_sum(k, &bytes)],
        )?;
    }
    Ok(())
}

pub(super) fn find(
    conn: &Connection,
    source: i64,
    key: RecordKey,
) -> Result<Option<RecordLocation>> {
    for (run, len) in runs(conn, source, -1)? {
        if let Some(location) = find_in_run(conn, run, chunks(len), key)? {
            return Ok(Some(location));
        }
    }
    Ok(None)
}

/// Returns the locations of all records of a source (imported file), sorted by key. If two records
/// have the same key, returns the location of the later one.
pub(super) fn all(conn: &Connection, source: i64) -> Result<Vec<(RecordKey, RecordLocation)>> {
    let mut found = BTreeMap::new();
    let mut runs = runs(conn, source, -1)?;
    runs.reverse();
    for (run, len) in runs {
        for chunk in 0..chunks(len) {
            found.extend(read(conn, run, chunk)?);
        }
    }
    Ok(found.into_iter().collect())
}

/// Reads all record locations of a source. Checks that they match their checksums and that none is
/// missing.
pub(super) fn check(conn: &Connection, source: i64) -> Result<()> {
    for (run, len) in runs(conn, source, -1)? {
        let mut entries = 0;
        for chunk in 0..chunks(len) {
            entries += signed(read(conn, run, chunk)?.len() as u64);
        }
        if entries != len {
            let message = format!("it holds {entries} entries and not {len}");
            return Err(Fault::damaged(format!("source_run row {run}"), &message));
        }
    }
    Ok(())
}

/// Returns the latest `limit` runs of a source, newest first. A run is a sorted list of record
/// locations. Returns the number of each run, and how many entries the run has. A negative `limit`
/// means all runs.
fn runs(conn: &Connection, source: i64, limit: i64) -> Result<Vec<(i64, i64)>> {
    let sql = "SELECT run, entries, crc FROM source_run WHERE source = ? ORDER BY run DESC LIMIT ?";
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query([source, limit])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let (run, len): (i64, i64) = (row.get(0)?, row.get(1)?);
        if row.get::<_, i64>(2)? != run_sum(run, source, len) {
            let message = "its fields do not fit their checksum";
            return Err(Fault::damaged(format!("source_run row {run}"), message));
        }
        found.push((run, len));
    }
    Ok(found)
}

fn run_sum(run: i64, source: i64, len: i64) -> i64 {
    i64::from(Fields::default().numbers(&[run, source, len]).sum())
}

fn chunk_sum(k: i64, bytes: &[u8]) -> i64 {
    i64::from(Fields::default().number(Some(k)).bytes(Some(bytes)).sum())
}

fn find_in_run(
    conn: &Connection,
    run: i64,
    chunks: i64,
    key: RecordKey,
) -> Result<Option<RecordLocation>> {
    let guess = (u128::from(key) * chunks.unsigned_abs() as u128) >> 64;
    let (mut low, mut high) = (0, chunks - 1);
    let mut chunk = i64::try_from(guess).unwrap_or(0);
    while low <= high {
        chunk = chunk.clamp(low, high);
        let entries = read(conn, run, chunk)?;
        let (Some(first), Some(last)) = (entries.first(), entries.last()) else {
            return Ok(None);
        };
        if key < first.0 {
            high = chunk - 1;
            chunk = high;
        } else if key > last.0 {
            low = chunk + 1;
            chunk = low;
        } else {
            let found = entries.binary_search_by_key(&key, |entry| entry.0).ok();
            return Ok(found.and_then(|at| entries.get(at)).map(|entry| entry.1));
        }
    }
    Ok(None)
}

fn chunks(entries: i64) -> i64 {
    signed(entries.unsigned_abs().div_ceil(CHUNK as u64))
}

fn chunk_key(run: i64, chunk: i64) -> i64 {
    (run << 16) | chunk
}

fn read(conn: &Connection, run: i64, chunk: i64) -> Result<Vec<(RecordKey, RecordLocation)>> {
    let k = chunk_key(run, chunk);
    let location = || format!("source_place row {k}");
    let sql = "SELECT entries, crc FROM source_place WHERE k = ?";
    let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let found: Option<(Vec<u8>, i64)> = conn.prepare_cached(sql)?.query_row([k], row).optional()?;
    let (bytes, sum) = found.ok_or_else(|| Fault::damaged(location(), "it is missing"))?;
    if sum != chunk_sum(k, &bytes) {
        return Err(Fault::damaged(location(), "it does not fit its checksum"));
    }
    let (entries, rest) = bytes.as_chunks::<ENTRY>();
    if !rest.is_empty() {
        return Err(Fault::damaged(location(), "an entry is cut off"));
    }
    Ok(entries.iter().map(from_bytes).collect())
}

/// The bit in an encoded record location which says that the record repeats an inherited event. It
/// is the highest bit of the field with the session's number.
const INHERITED: u32 = 1 << 31;

/// Encodes the location of a record in 16 bytes: its key (8), the session (4) and the position (4),
/// all big-endian. Four bytes suffice for a position because no segment has more than 2^32 events.
fn to_bytes((key, location): (RecordKey, RecordLocation)) -> [u8; ENTRY] {
    let position = u128::from(location.position & u64::from(u32::MAX));
    let inherited = if location.inherited { INHERITED } else { 0 };
    let session = location.session & RecordLocation::LAST_SESSION | inherited;
    let joined = u128::from(key) << 64 | u128::from(session) << 32 | position;
    joined.to_be_bytes()
}

fn from_bytes(bytes: &[u8; ENTRY]) -> (RecordKey, RecordLocation) {
    let joined = u128::from_be_bytes(*bytes);
    let session = (joined >> 32) as u32;
    let location = RecordLocation {
        session: session & RecordLocation::LAST_SESSION,
        position: u64::from(joined as u32),
        inherited: session & INHERITED != 0,
    };
    ((joined >> 64) as u64, location)
}
