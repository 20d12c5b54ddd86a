//! Reads and writes the rows of a source, each with a checksum of its fields.

use forklore_store::sources::{Progress, RecordKey, SeenFile, Source, SourceId, SourceSession};
use rusqlite::{Connection, OptionalExtension, Row};

use crate::crc::Fields;
use crate::fault::{Fault, Result};
use crate::integer::{signed, unsigned};
use crate::segment::Segment;
use crate::write_tx::WriteTx;

/// The main row of a source (imported file). In `source`, the names, paths and sessions are empty,
/// because they are in other tables. `steps` is the number of import steps that stored byte ranges.
#[derive(Clone, Debug)]
pub(super) struct Stored {
    pub(super) source: Source,
    pub(super) steps: i64,
}

impl Stored {
    fn sum(&self) -> i64 {
        let Source { id, dialect, native_id, revision, first_line, read, .. } = &self.source;
        let numbers = [signed(id.0), signed(*revision), first_line.cast_signed()];
        let fields =
            Fields::default().numbers(&numbers).numbers(&[signed(read.offset), self.steps]);
        let texts = [dialect.as_bytes(), native_id.as_bytes(), &read.sha256, read.state.as_bytes()];
        i64::from(texts.iter().fold(fields, |fields, text| fields.bytes(Some(text))).sum())
    }

    /// Writes the columns that an import step changes to the source's row.
    pub(super) fn save(&self, tx: &WriteTx<'_>) -> Result<()> {
        let Source { id, native_id, read, .. } = &self.source;
        tx.write(
            "UPDATE source SET native_id = ?, offset = ?, sha256 = ?, state = ?, steps = ?, crc = ?
             WHERE id = ?",
            &[
                native_id,
                &signed(read.offset),
                &read.sha256,
                &read.state,
                &self.steps,
                &self.sum(),
                &signed(id.0),
            ],
        )?;
        Ok(())
    }
}

/// Inserts a source from which nothing has been read yet. Returns its number.
pub(super) fn insert(
    tx: &WriteTx<'_>,
    dialect: &str,
    revision: u64,
    first_line: u64,
) -> Result<i64> {
    tx.write(
        "INSERT INTO source
             (dialect, native_id, revision, first_line, offset, sha256, state, steps, crc)
         VALUES (?, '', ?, ?, 0, ?, '', 0, 0)",
        &[&dialect, &signed(revision), &first_line.cast_signed(), &[0_u8; 32]],
    )?;
    let id = tx.last_insert_rowid();
    let source = Source {
        id: SourceId(id.unsigned_abs()),
        dialect: dialect.to_owned(),
        native_id: String::new(),
        revision,
        first_line,
        names: Vec::new(),
        paths: Vec::new(),
        sessions: Vec::new(),
        read: Progress::default(),
    };
    // The checksum covers the source's number, which is known only after the insert.
    Stored { source, steps: 0 }.save(tx)?;
    Ok(id)
}

/// Reads the main row of the source with this number. The result lacks names, paths and sessions.
/// Returns `None` if there is no such source.
pub(super) fn find(conn: &Connection, id: i64) -> Result<Option<Stored>> {
    let sql = "SELECT dialect, native_id, revision, first_line, offset, sha256, state, steps, crc
               FROM source WHERE id = ?";
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query([id])?;
    let Some(row) = rows.next()? else {
        return Ok(None);
    };
    let read = || -> Result<Stored> {
        let source = Source {
            id: SourceId(id.unsigned_abs()),
            dialect: row.get(0)?,
            native_id: row.get(1)?,
            revision: unsigned(row.get(2)?)?,
            first_line: row.get::<_, i64>(3)?.cast_unsigned(),
            names: Vec::new(),
            paths: Vec::new(),
            sessions: Vec::new(),
            read: Progress {
                offset: unsigned(row.get(4)?)?,
                sha256: row.get(5)?,
                state: row.get(6)?,
            },
        };
        Ok(Stored { source, steps: row.get(7)? })
    };
    let stored = read().map_err(|fault| placed(fault, "source", id))?;
    check(row, 8, stored.sum(), "source", id)?;
    Ok(Some(stored))
}

/// Reads the source with this number, with its names, paths and sessions.
pub(super) fn whole(conn: &Connection, id: i64) -> Result<Source> {
    let missing = || Fault::damaged(format!("source row {id}"), "it is missing");
    let mut source = find(conn, id)?.ok_or_else(missing)?.source;
    source.names = names(conn, id)?;
    source.paths = paths(conn, id)?;
    source.sessions = sessions(conn, id)?;
    Ok(source)
}

fn name_sum(source: i64, name: i64) -> i64 {
    i64::from(Fields::default().numbers(&[source, name]).sum())
}

fn names(conn: &Connection, source: i64) -> Result<Vec<RecordKey>> {
    let sql = "SELECT name, crc FROM source_name WHERE source = ?";
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query([source])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let name: i64 = row.get(0)?;
        check(row, 1, name_sum(source, name), "source_name", name)?;
        found.push(name.cast_unsigned());
    }
    found.sort_unstable();
    Ok(found)
}

/// Adds names under which other imported files may refer to this source.
pub(super) fn add_names(tx: &WriteTx<'_>, source: i64, names: &[RecordKey]) -> Result<()> {
    for name in names.iter().map(|name| name.cast_signed()) {
        tx.write(
            "INSERT OR IGNORE INTO source_name (source, name, crc) VALUES (?, ?, ?)",
            &[&source, &name, &name_sum(source, name)],
        )?;
    }
    Ok(())
}

fn path_sum(source: i64, seen: &SeenFile) -> i64 {
    let numbers = [source, signed(seen.size), seen.modified];
    i64::from(Fields::default().numbers(&numbers).bytes(Some(seen.path.as_bytes())).sum())
}

fn paths(conn: &Connection, source: i64) -> Result<Vec<SeenFile>> {
    let sql = "SELECT id, path, size, modified, crc FROM source_path WHERE source = ? ORDER BY id";
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query([source])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let id = row.get(0)?;
        let size = unsigned(row.get(2)?).map_err(|fault| placed(fault, "source_path", id))?;
        let seen = SeenFile { path: row.get(1)?, size, modified: row.get(3)? };
        check(row, 4, path_sum(source, &seen), "source_path", id)?;
        found.push(seen);
    }
    Ok(found)
}

/// Records the path, size and modification time of a source's file at the time it was read.
pub(super) fn saw(tx: &WriteTx<'_>, source: i64, seen: &SeenFile) -> Result<()> {
    tx.write(
        "INSERT INTO source_path (source, path, size, modified, crc) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT (path, source) DO UPDATE SET size = excluded.size,
             modified = excluded.modified, crc = excluded.crc",
        &[&source, &seen.path, &signed(seen.size), &seen.modified, &path_sum(source, seen)],
    )?;
    Ok(())
}

fn session_sum(source: i64, number: i64, sid: Segment, events: u64) -> i64 {
    i64::from(Fields::default().numbers(&[source, number, sid, signed(events)]).sum())
}

fn sessions(conn: &Connection, source: i64) -> Result<Vec<SourceSession>> {
    let sql = "SELECT number, sid, events, crc FROM source_session WHERE source = ?
               ORDER BY number";
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query([source])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let (number, sid): (i64, Segment) = (row.get(0)?, row.get(1)?);
        let location = || format!("source_session row {number} of source {source}");
        let events = unsigned(row.get(2)?)?;
        let whole = session_sum(source, number, sid, events) == row.get::<_, i64>(3)?;
        if !whole || number != signed(found.len() as u64) {
            return Err(Fault::damaged(location(), "it does not fit its checksum or its place"));
        }
        found.push(SourceSession { id: crate::session::identity(conn, sid)?.id, events });
    }
    Ok(found)
}

/// Records that the session `sid` was imported from a source. `number` is the index of the session
/// among the source's sessions. `events` is the number of its events that came from the file.
pub(super) fn add_session(
    tx: &WriteTx<'_>,
    source: i64,
    number: i64,
    sid: Segment,
    events: u64,
) -> Result<()> {
    let sum = session_sum(source, number, sid, events);
    tx.write(
        "INSERT INTO source_session (source, number, sid, events, crc) VALUES (?, ?, ?, ?, ?)",
        &[&source, &number, &sid, &signed(events), &sum],
    )?;
    Ok(())
}

/// Adds `more` to the number of events that the session `sid` has from its source file. Does
/// nothing if the session was not imported.
pub(super) fn add_events(tx: &WriteTx<'_>, sid: Segment, more: u64) -> Result<()> {
    let sql = "SELECT source, number, events, crc FROM source_session WHERE sid = ?";
    let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get::<_, i64>(2)?, row.get(3)?));
    let found: Option<(i64, i64, i64, i64)> =
        tx.prepare_cached(sql)?.query_row([sid], row).optional()?;
    let Some((source, number, events, crc)) = found else {
        return Ok(());
    };
    let events = unsigned(events)?;
    if session_sum(source, number, sid, events) != crc {
        let location = format!("source_session row {number} of source {source}");
        return Err(Fault::damaged(location, "it does not fit its checksum"));
    }
    let events = events + more;
    tx.write(
        "UPDATE source_session SET events = ?, crc = ? WHERE sid = ?",
        &[&signed(events), &session_sum(source, number, sid, events), &sid],
    )?;
    Ok(())
}

fn check(row: &Row<'_>, at: usize, sum: i64, table: &str, id: i64) -> Result<()> {
    if row.get::<_, i64>(at)? == sum {
        return Ok(());
    }
    Err(Fault::damaged(format!("{table} row {id}"), "its fields do not fit their checksum"))
}

/// If the fault reports damage, sets its location to this row of this table.
fn placed(fault: Fault, table: &str, id: i64) -> Fault {
    match fault {
        Fault::Damaged(damage) => Fault::damaged(format!("{table} row {id}"), &damage.message),
        other => other,
    }
}
