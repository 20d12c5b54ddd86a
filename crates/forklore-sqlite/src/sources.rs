//! Stores sources: the files from which sessions were imported (docs/semantics.md, Sources).

mod record_locations;
mod row;
mod write;

pub(crate) use self::write::Import;

use std::collections::BTreeSet;

use forklore_store::sources::{
    FindSource, RecordKey, RecordLocation, Source, SourceId, SourceSpan, decode, encode,
    sidecar_key,
};
use rusqlite::{Connection, OptionalExtension, ToSql};

use crate::crc::Fields;
use crate::fault::{self, Fault};
use crate::integer::signed;
use crate::segment::Segment;
use crate::write_tx::WriteTx;

/// Returns the location of the event that a record of an imported file became. `record` is the key
/// of that record. If several records of the file have this key, returns the location for the
/// latest. Returns `None` if no record has the key.
pub(crate) fn locate(
    conn: &Connection,
    source: SourceId,
    record: RecordKey,
) -> fault::Result<Option<RecordLocation>> {
    record_locations::find(conn, signed(source.0), record)
}

/// Returns the locations of the events that the records of a source (an imported file) became. Each
/// comes with the key of its record.
pub(crate) fn locations(
    conn: &Connection,
    source: SourceId,
) -> fault::Result<Vec<(RecordKey, RecordLocation)>> {
    record_locations::all(conn, signed(source.0))
}

/// Returns the byte ranges that one import step stored for a source, or `None` if there is no such
/// step. `step` counts, from 0, the steps of this source that stored ranges. Each range says from
/// which stored data its bytes can be restored, or that they are gone.
pub(crate) fn ranges_of(
    conn: &Connection,
    source: SourceId,
    step: u64,
) -> fault::Result<Option<Vec<SourceSpan>>> {
    ranges(conn, step_key(signed(source.0), signed(step)))
}

/// Returns the sources that match `by`, newest first.
pub(crate) fn find(conn: &Connection, by: &FindSource) -> fault::Result<Vec<Source>> {
    let (sql, value): (&str, &dyn ToSql) = match by {
        FindSource::Path(path) => {
            ("SELECT source FROM source_path WHERE path = ? ORDER BY source DESC", path)
        }
        FindSource::Latest(path) => {
            ("SELECT source FROM source_path WHERE path = ? ORDER BY source DESC LIMIT 1", path)
        }
        FindSource::SidecarsOf(path) => {
            return find(conn, &FindSource::Name(sidecar_key(path)));
        }
        FindSource::FirstLine(key) => {
            ("SELECT id FROM source WHERE first_line = ? ORDER BY id DESC", &key.cast_signed())
        }
        FindSource::Name(name) => (
            "SELECT source FROM source_name WHERE name = ? ORDER BY source DESC",
            &name.cast_signed(),
        ),
        FindSource::Session(id) => (
            "SELECT t.source FROM source_session t JOIN session s ON s.sid = t.sid
             WHERE s.folded = ? ORDER BY t.source DESC",
            &id.fold(),
        ),
    };
    let mut statement = conn.prepare_cached(sql)?;
    let ids = statement.query_map([value], |row| row.get(0))?;
    let ids: Vec<i64> = ids.collect::<rusqlite::Result<_>>()?;
    ids.into_iter().map(|id| row::whole(conn, id)).collect()
}

fn step_key(source: i64, step: i64) -> i64 {
    (source << 32) | step
}

fn range_sum(k: i64, bytes: &[u8]) -> i64 {
    i64::from(Fields::default().number(Some(k)).bytes(Some(bytes)).sum())
}

fn ranges(conn: &Connection, k: i64) -> fault::Result<Option<Vec<SourceSpan>>> {
    let sql = "SELECT crc, ranges FROM source_range WHERE k = ?";
    let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let found: Option<(i64, Vec<u8>)> = conn.prepare_cached(sql)?.query_row([k], row).optional()?;
    let Some((crc, bytes)) = found else {
        return Ok(None);
    };
    let location = || format!("source_range row {k}");
    if crc != range_sum(k, &bytes) {
        return Err(Fault::damaged(location(), "the checksum does not fit"));
    }
    decode(&bytes).map(Some).map_err(|error| Fault::damaged(location(), &error))
}

/// Returns the lowest number of a source that is greater than `last`. Returns `None` if there is
/// none.
pub(crate) fn next(conn: &Connection, last: i64) -> fault::Result<Option<i64>> {
    let sql = "SELECT id FROM source WHERE id > ? ORDER BY id LIMIT 1";
    Ok(conn.prepare_cached(sql)?.query_row([last], |row| row.get(0)).optional()?)
}

/// Reads and checks all rows that belong to a source, i.e. an imported file.
pub(crate) fn check(conn: &Connection, source: i64) -> fault::Result<()> {
    row::whole(conn, source)?;
    let steps = row::find(conn, source)?.map_or(0, |stored| stored.steps);
    for step in 0..steps {
        let k = step_key(source, step);
        if ranges(conn, k)?.is_none() {
            return Err(Fault::damaged(format!("source_range row {k}"), "it is missing"));
        }
    }
    record_locations::check(conn, source)
}

/// Erases the stored bytes of the files from which `sessions` were imported. Also erases the stored
/// bytes of the sidecar files, which the agent stored next to those files (docs/semantics.md,
/// Delete, detach).
pub(crate) fn forget_files_of(
    tx: &WriteTx<'_>,
    sessions: impl Iterator<Item = Segment>,
) -> fault::Result<()> {
    // Very many of the sessions may come from one file, which is as large as all of them.
    let mut files = BTreeSet::new();
    let mut statement = tx.prepare_cached("SELECT source FROM source_session WHERE sid = ?")?;
    for sid in sessions {
        files.extend(statement.query_row([sid], |row| row.get::<_, i64>(0)).optional()?);
    }
    for source in &files {
        forget_bytes(tx, *source)?;
        for seen in row::whole(tx, *source)?.paths {
            for sidecar in find(tx, &FindSource::SidecarsOf(seen.path))? {
                forget_bytes(tx, signed(sidecar.id.0))?;
            }
        }
    }
    if !files.is_empty() {
        tx.write("UPDATE upkeep SET erased = 1", &[])?;
    }
    Ok(())
}

/// Erases the stored bytes of these sources.
pub(crate) fn forget(tx: &WriteTx<'_>, sources: &[SourceId]) -> fault::Result<()> {
    for source in sources {
        forget_bytes(tx, signed(source.0))?;
    }
    if !sources.is_empty() {
        tx.write("UPDATE upkeep SET erased = 1", &[])?;
    }
    Ok(())
}

fn forget_bytes(tx: &WriteTx<'_>, source: i64) -> fault::Result<()> {
    let steps = row::find(tx, source)?.map_or(0, |stored| stored.steps);
    for step in 0..steps {
        let k = step_key(source, step);
        let mut all = ranges(tx, k)?.unwrap_or_default();
        let mut retained = false;
        for range in &mut all {
            if let Some(left) = range.forgotten() {
                *range = left;
                retained = true;
            }
        }
        if retained {
            write::put_ranges(tx, k, &encode(&all))?;
        }
    }
    Ok(())
}
