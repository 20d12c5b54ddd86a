//! The sources of imported sessions.

mod record;
mod step;

use std::collections::HashSet;

use forklore_core::SessionId;
use forklore_store::sources::{
    FindSource, RecordKey, RecordLocation, Source, SourceId, SourceSpan, decode, encode,
    sidecar_key,
};
use forklore_store::{Error, sources};
use sha2::{Digest, Sha256};
use tokio_postgres::Row;

use self::record::Record;
pub(crate) use self::step::{begin, record};
use crate::checksum::Checksum;
use crate::connection::{bytes, number, text};
use crate::database::Database;
use crate::fault::Result;
use crate::number::{signed, unsigned};

/// By what a source is found: a kind of key, and the key.
type Key = (i16, Vec<u8>);

const PATH: i16 = 0;
const FIRST_LINE: i16 = 1;
const NAME: i16 = 2;
const SESSION: i16 = 3;

/// A path may be longer than an entry of an index.
fn key_of_text(kind: i16, text: &str) -> Key {
    (kind, Sha256::digest(text.as_bytes()).to_vec())
}

fn key_of_hash(kind: i16, hash: RecordKey) -> Key {
    (kind, hash.to_be_bytes().to_vec())
}

fn key_of(by: &FindSource) -> Key {
    match by {
        FindSource::Path(path) | FindSource::Latest(path) => key_of_text(PATH, path),
        FindSource::SidecarsOf(path) => key_of_hash(NAME, sidecar_key(path)),
        FindSource::FirstLine(hash) => key_of_hash(FIRST_LINE, *hash),
        FindSource::Name(hash) => key_of_hash(NAME, *hash),
        FindSource::Session(id) => key_of_text(SESSION, id.as_str()),
    }
}

/// Returns the sources that match, the most recently created first.
pub(crate) fn find(database: Database<'_>, by: &FindSource) -> Result<Vec<Source>> {
    let most: i64 = if matches!(by, FindSource::Latest(_)) { 1 } else { i64::MAX };
    let sql = "SELECT s.id, s.record, s.crc FROM forklore.source_key k
         JOIN forklore.source s ON s.tenant = k.tenant AND s.id = k.source
         WHERE k.tenant = $1 AND k.kind = $2::int8 AND k.key = $3
         ORDER BY k.source DESC LIMIT $4";
    let (kind, key) = key_of(by);
    let kind = i64::from(kind);
    let values = [text(&database.tenant), number(&kind), bytes(&key), number(&most)];
    database.connection.rows(sql, &values)?.iter().map(read).collect()
}

/// Returns the source with this number.
pub(crate) fn by_id(database: Database<'_>, id: SourceId) -> Result<Option<Source>> {
    let sql = "SELECT id, record, crc FROM forklore.source WHERE tenant = $1 AND id = $2";
    let id = signed(id.0);
    let row = database.connection.row(sql, &[text(&database.tenant), number(&id)])?;
    row.as_ref().map(read).transpose()
}

fn read(row: &Row) -> Result<Source> {
    let (id, record, crc): (i64, String, i64) = (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
    if sum(id, record.as_bytes()) != crc {
        return Err(damaged(id, "it does not fit its checksum").into());
    }
    let record: Record =
        serde_json::from_str(&record).map_err(|error| damaged(id, &error.to_string()))?;
    Ok(record.into_source(SourceId(unsigned(id))))
}

fn sum(id: i64, record: &[u8]) -> i64 {
    Checksum::default().number(id).bytes(record).sum()
}

fn damaged(id: i64, message: &str) -> Error {
    let (location, message) = (format!("the record of source {id}"), message.to_owned());
    Error::Corrupt { session: None, seq: None, location, message }
}

/// Returns the location of a record of a source.
pub(crate) fn locate(
    database: Database<'_>,
    source: SourceId,
    record: RecordKey,
) -> Result<Option<RecordLocation>> {
    let sql = "SELECT record, session, position, inherited FROM forklore.source_record
         WHERE tenant = $1 AND source = $2 AND record = $3";
    let (source, record) = (signed(source.0), record.cast_signed());
    let values = [text(&database.tenant), number(&source), number(&record)];
    let row = database.connection.row(sql, &values)?;
    Ok(row.as_ref().map(location).transpose()?.map(|(_, location)| location))
}

/// Returns the locations of all records of a source; `None` if there is no such source.
pub(crate) fn locations(
    database: Database<'_>,
    source: SourceId,
) -> Result<Option<Vec<(RecordKey, RecordLocation)>>> {
    if by_id(database, source)?.is_none() {
        return Ok(None);
    }
    let sql = "SELECT record, session, position, inherited FROM forklore.source_record
         WHERE tenant = $1 AND source = $2 ORDER BY record";
    let source = signed(source.0);
    let rows = database.connection.rows(sql, &[text(&database.tenant), number(&source)])?;
    rows.iter().map(location).collect::<Result<_>>().map(Some)
}

fn location(row: &Row) -> Result<(RecordKey, RecordLocation)> {
    let record: i64 = row.try_get(0)?;
    let location = RecordLocation {
        session: u32::try_from(row.try_get::<_, i64>(1)?).unwrap_or(u32::MAX),
        position: unsigned(row.try_get(2)?),
        inherited: row.try_get(3)?,
    };
    Ok((record.cast_unsigned(), location))
}

/// Returns the spans of a step of an import; `None` if there is no such step.
pub(crate) fn spans(
    database: Database<'_>,
    source: SourceId,
    step: u64,
) -> Result<Option<Vec<SourceSpan>>> {
    let sql = "SELECT step, spans, crc FROM forklore.source_step
         WHERE tenant = $1 AND source = $2 AND step = $3";
    let (source, step) = (signed(source.0), signed(step));
    let values = [text(&database.tenant), number(&source), number(&step)];
    let row = database.connection.row(sql, &values)?;
    row.as_ref().map(|row| Ok(spans_of(row, source)?.1)).transpose()
}

fn spans_of(row: &Row, source: i64) -> Result<(i64, Vec<SourceSpan>)> {
    let (step, spans, crc): (i64, Vec<u8>, i64) =
        (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
    if sum(step, &spans) != crc {
        return Err(damaged(source, "a list of ranges does not fit its checksum").into());
    }
    let spans = decode(&spans).map_err(|error| damaged(source, &error.to_string()))?;
    Ok((step, spans))
}

/// Erases the stored bytes of the files from which erased sessions were imported, and of their
/// sidecars.
pub(crate) fn forget(database: Database<'_>, erased: &[SessionId]) -> Result<()> {
    let mut gone = HashSet::new();
    for id in erased {
        for source in find(database, &FindSource::Session(id.clone()))? {
            for seen in &source.paths {
                let sidecars = find(database, &FindSource::SidecarsOf(seen.path.clone()))?;
                gone.extend(sidecars.iter().map(|sidecar| sidecar.id));
            }
            gone.insert(source.id);
        }
    }
    gone.into_iter().try_for_each(|source| forget_bytes(database, source))
}

/// Erases the stored bytes of these sources.
pub(crate) fn forget_sources(database: Database<'_>, sources: &[SourceId]) -> Result<()> {
    sources.iter().try_for_each(|source| forget_bytes(database, *source))
}

fn forget_bytes(database: Database<'_>, source: SourceId) -> Result<()> {
    let source = signed(source.0);
    let sql = "SELECT step, spans, crc FROM forklore.source_step WHERE tenant = $1 AND source = $2";
    for row in database.connection.rows(sql, &[text(&database.tenant), number(&source)])? {
        let (step, mut spans) = spans_of(&row, source)?;
        let mut is_changed = false;
        for span in &mut spans {
            if let Some(left) = span.forgotten() {
                is_changed |= left != *span;
                *span = left;
            }
        }
        if is_changed {
            put_spans(database, source, step, &spans)?;
        }
    }
    Ok(())
}

fn put_spans(
    database: Database<'_>,
    source: i64,
    step: i64,
    spans: &[sources::SourceSpan],
) -> Result<()> {
    let spans = encode(spans);
    let crc = sum(step, &spans);
    let sql = "INSERT INTO forklore.source_step (tenant, source, step, spans, crc)
         VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (tenant, source, step) DO UPDATE SET (spans, crc) = (excluded.spans, excluded.crc)";
    let values =
        [text(&database.tenant), number(&source), number(&step), bytes(&spans), number(&crc)];
    database.connection.execute(sql, &values)?;
    Ok(())
}
