//! One step of an import: its conditions, and what it records.

use forklore_store::Error;
use forklore_store::sources::{
    FindSource, RecordKey, RecordLocation, Source, SourceId, SourceSession, SourceStep, Target,
    check_sidecar,
};

use super::{
    FIRST_LINE, Key, NAME, PATH, Record, SESSION, by_id, find, key_of_hash, key_of_text, put_spans,
    sum,
};
use crate::connection::{number, numbers, text, truths};
use crate::database::Database;
use crate::fault::Result;
use crate::number::{signed, unsigned};

/// Checks that the source is in the state that the step expects. The transaction has locked the
/// store's row, so no other import runs at the same time. Returns the step's source and its
/// sessions.
pub(crate) fn begin(
    database: Database<'_>,
    step: &SourceStep,
) -> Result<(SourceId, Vec<SourceSession>)> {
    let (id, sessions) = check_target(database, step)?;
    if let Some(path) = &step.sidecar_of {
        let latest = find(database, &FindSource::Latest(path.clone()))?;
        check_sidecar(latest.first(), |id| {
            Ok::<_, crate::fault::Fault>(database.session(id)?.header.deleted.is_some())
        })?;
    }
    Ok((id, sessions))
}

fn check_target(
    database: Database<'_>,
    step: &SourceStep,
) -> Result<(SourceId, Vec<SourceSession>)> {
    let stale = |message: String| Err(Error::Stale { what: "the source".into(), message }.into());
    match &step.target {
        Target::New { latest, .. } => {
            let now = find(database, &FindSource::Latest(step.seen.path.clone()))?;
            if now.first().map(|source| source.id) != *latest {
                return stale("the file has been read by somebody else".into());
            }
            let sql = "UPDATE forklore.store SET sources = sources + 1 WHERE tenant = $1
                 RETURNING sources - 1";
            let row = database.connection.row(sql, &[text(&database.tenant)])?;
            let location = || format!("of the tenant {}", database.tenant);
            let row = row.ok_or_else(|| Error::StoreGone { location: location() })?;
            Ok((SourceId(unsigned(row.try_get(0)?)), Vec::new()))
        }
        Target::State { id, offset } => match by_id(database, *id)? {
            Some(source) if source.read.offset == *offset => Ok((*id, source.sessions)),
            Some(source) => stale(format!("it is read up to byte {}", source.read.offset)),
            None => stale("it is gone".into()),
        },
    }
}

/// Applies the step to its source. `sessions` are the sessions of the source after the step.
pub(crate) fn record(
    database: Database<'_>,
    id: SourceId,
    step: &SourceStep,
    sessions: Vec<SourceSession>,
) -> Result<()> {
    let mut source = match by_id(database, id)?.or_else(|| Source::begun_by(step, id)) {
        Some(source) => source,
        None => {
            return Err(
                Error::Stale { what: "the source".into(), message: "it is gone".into() }.into()
            );
        }
    };
    source.apply(step, sessions);
    let steps = put(database, &source, u64::from(!step.ranges.is_empty()))?;
    if !step.ranges.is_empty() {
        put_spans(database, signed(id.0), steps - 1, &step.ranges)?;
    }
    put_keys(database, &source)?;
    put_locations(database, id, &step.locations)
}

/// Writes the record of a source, which has so many more steps. Returns how many it has now.
fn put(database: Database<'_>, source: &Source, more: u64) -> Result<i64> {
    let record = serde_json::to_string(&Record::of(source))
        .map_err(|error| Error::io("recording a source", error))?;
    let (id, more) = (signed(source.id.0), signed(more));
    let crc = sum(id, record.as_bytes());
    let sql = "INSERT INTO forklore.source AS s (tenant, id, record, crc, steps)
         VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (tenant, id) DO UPDATE SET (record, crc, steps)
             = (excluded.record, excluded.crc, s.steps + excluded.steps)
         RETURNING steps";
    let values = [text(&database.tenant), number(&id), text(&record), number(&crc), number(&more)];
    let row = database.connection.row(sql, &values)?;
    row.map_or(Ok(0), |row| Ok(row.try_get(0)?))
}

fn put_keys(database: Database<'_>, source: &Source) -> Result<()> {
    let mut keys: Vec<Key> = vec![key_of_hash(FIRST_LINE, source.first_line)];
    keys.extend(source.paths.iter().map(|seen| key_of_text(PATH, &seen.path)));
    keys.extend(source.names.iter().map(|name| key_of_hash(NAME, *name)));
    keys.extend(source.sessions.iter().map(|session| key_of_text(SESSION, session.id.as_str())));
    let (kinds, keys): (Vec<i64>, Vec<Vec<u8>>) =
        keys.into_iter().map(|(kind, key)| (i64::from(kind), key)).unzip();
    let sql = "INSERT INTO forklore.source_key (tenant, source, kind, key)
         SELECT $1, $2, * FROM unnest($3::int8[], $4::bytea[]) ON CONFLICT DO NOTHING";
    let id = signed(source.id.0);
    let keys = (&keys as _, tokio_postgres::types::Type::BYTEA_ARRAY);
    let values = [text(&database.tenant), number(&id), numbers(&kinds), keys];
    database.connection.execute(sql, &values)?;
    Ok(())
}

fn put_locations(
    database: Database<'_>,
    id: SourceId,
    locations: &[(RecordKey, RecordLocation)],
) -> Result<()> {
    if locations.is_empty() {
        return Ok(());
    }
    // Of a key that occurs twice, the later location is valid.
    let latest: std::collections::BTreeMap<_, _> = locations.iter().copied().collect();
    let records: Vec<i64> = latest.keys().map(|record| record.cast_signed()).collect();
    let sessions: Vec<i64> = latest.values().map(|at| i64::from(at.session)).collect();
    let positions: Vec<i64> = latest.values().map(|at| signed(at.position)).collect();
    let inherited: Vec<bool> = latest.values().map(|at| at.inherited).collect();
    let sql = "INSERT INTO forklore.source_record (tenant, source, record, session, position,
             inherited)
         SELECT $1, $2, * FROM unnest($3::int8[], $4::int8[], $5::int8[], $6::bool[])
         ON CONFLICT (tenant, source, record) DO UPDATE SET (session, position, inherited)
             = (excluded.session, excluded.position, excluded.inherited)";
    let source = signed(id.0);
    let values = [
        text(&database.tenant),
        number(&source),
        numbers(&records),
        numbers(&sessions),
        numbers(&positions),
        truths(&inherited),
    ];
    database.connection.execute(sql, &values)?;
    Ok(())
}
