//! Files that sessions were read from (SPEC 11).

mod place;
mod write;

use forklore_store::Result;
use forklore_store::sources::{
    FindSource, Place, Progress, Range, RecordKey, SeenFile, Source, SourceId, SourceSession,
    Sources, Step, decode, encode,
};
use rusqlite::{Connection, OptionalExtension, ToSql};

use crate::fault::{self, Fault};
use crate::number::{signed, unsigned};
use crate::segment::Segment;
use crate::store::{Durable, SqliteStore};
use crate::write::WriteTx;

impl Sources for SqliteStore {
    fn sources(&self, by: &FindSource) -> Result<Vec<Source>> {
        self.read_with("reading", |conn| find(conn, by))
    }

    fn place(&self, source: SourceId, record: RecordKey) -> Result<Option<Place>> {
        self.read_with("reading", |conn| place::find(conn, signed(source.0), record))
    }

    fn ranges(&self, source: SourceId, step: u64) -> Result<Option<Vec<Range>>> {
        self.read_with("reading", |conn| ranges(conn, step_key(signed(source.0), signed(step))))
    }

    fn import(&self, step: Step) -> Result<SourceId> {
        let durable = if step.last { Durable::Now } else { Durable::WithNext };
        self.write_with(durable, "importing into", |tx| write::step(tx, &step))
    }
}

fn find(conn: &Connection, by: &FindSource) -> fault::Result<Vec<Source>> {
    let (sql, value): (&str, &dyn ToSql) = match by {
        FindSource::Path(path) => {
            ("SELECT source FROM source_path WHERE path = ? ORDER BY source DESC", path)
        }
        FindSource::FirstLine(key) => {
            ("SELECT id FROM source WHERE first_line = ? ORDER BY id DESC", &key.cast_signed())
        }
        FindSource::Session(id) => (
            "SELECT t.source FROM source_session t JOIN session s ON s.sid = t.sid
             WHERE s.folded = ?",
            &id.fold(),
        ),
    };
    let mut statement = conn.prepare_cached(sql)?;
    let ids = statement.query_map([value], |row| row.get(0))?;
    let ids: Vec<i64> = ids.collect::<rusqlite::Result<_>>()?;
    ids.into_iter().map(|id| load(conn, id)).collect()
}

fn load(conn: &Connection, id: i64) -> fault::Result<Source> {
    let sql = "SELECT dialect, native_id, revision, first_line, offset, sha256, state
               FROM source WHERE id = ?";
    let row = |row: &rusqlite::Row<'_>| {
        let revision: i64 = row.get(2)?;
        let first_line: i64 = row.get(3)?;
        let offset: i64 = row.get(4)?;
        let source = Source {
            id: SourceId(id.unsigned_abs()),
            dialect: row.get(0)?,
            native_id: row.get(1)?,
            revision: revision.unsigned_abs(),
            first_line: first_line.cast_unsigned(),
            paths: Vec::new(),
            sessions: Vec::new(),
            read: Progress {
                offset: offset.unsigned_abs(),
                sha256: row.get(5)?,
                state: row.get(6)?,
            },
        };
        Ok(source)
    };
    let mut source = conn.prepare_cached(sql)?.query_row([id], row)?;
    source.paths = paths(conn, id)?;
    source.sessions = sessions(conn, id)?;
    Ok(source)
}

fn paths(conn: &Connection, source: i64) -> fault::Result<Vec<SeenFile>> {
    let sql = "SELECT path, size, modified FROM source_path WHERE source = ? ORDER BY id";
    let row = |row: &rusqlite::Row<'_>| {
        let size: i64 = row.get(1)?;
        Ok(SeenFile { path: row.get(0)?, size: size.unsigned_abs(), modified: row.get(2)? })
    };
    let mut statement = conn.prepare_cached(sql)?;
    let found = statement.query_map([source], row)?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

fn sessions(conn: &Connection, source: i64) -> fault::Result<Vec<SourceSession>> {
    let sql = "SELECT s.id, t.events FROM source_session t JOIN session s ON s.sid = t.sid
               WHERE t.source = ? ORDER BY t.number";
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query([source])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let id: String = row.get(0)?;
        let id = id.parse().map_err(|error| Fault::damaged("session row", &error))?;
        found.push(SourceSession { id, events: unsigned(row.get(1)?)? });
    }
    Ok(found)
}

fn step_key(source: i64, step: i64) -> i64 {
    (source << 32) | step
}

fn ranges(conn: &Connection, k: i64) -> fault::Result<Option<Vec<Range>>> {
    let sql = "SELECT crc, ranges FROM source_range WHERE k = ?";
    let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let found: Option<(i64, Vec<u8>)> = conn.prepare_cached(sql)?.query_row([k], row).optional()?;
    let Some((crc, bytes)) = found else {
        return Ok(None);
    };
    let place = || format!("source_range row {k}");
    if crc != i64::from(crate::crc::payload(&bytes)) {
        return Err(Fault::damaged(place(), "the checksum does not fit"));
    }
    decode(&bytes).map(Some).map_err(|error| Fault::damaged(place(), &error))
}

/// Drops the kept bytes of the file that a deleted session was read from (SPEC 10).
pub(crate) fn forget(tx: &WriteTx<'_>, sid: Segment) -> fault::Result<()> {
    let sql =
        "SELECT source, steps FROM source_session JOIN source ON source.id = source WHERE sid = ?";
    let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let found: Option<(i64, i64)> = tx.prepare_cached(sql)?.query_row([sid], row).optional()?;
    let Some((source, steps)) = found else {
        return Ok(());
    };
    for step in 0..steps {
        let k = step_key(source, step);
        let mut all = ranges(tx, k)?.unwrap_or_default();
        let mut kept = false;
        for range in &mut all {
            if let Range::Kept(bytes) | Range::Raw { bytes, .. } = range {
                *range = Range::Gone(bytes.len() as u64);
                kept = true;
            }
        }
        if kept {
            write::put_ranges(tx, k, &encode(&all))?;
        }
    }
    tx.write("UPDATE upkeep SET erased = 1", &[])?;
    Ok(())
}
