//! One step of an import: sessions, events and what is known of the file, together.

use forklore_store::Error;
use forklore_store::port::Change;
use forklore_store::sources::{
    FindSource, SourceId, Step, Target, Write, beside_name, check_beside, encode,
};
use rusqlite::Connection;

use super::{place, range_sum, row, step_key};
use crate::fault::{Fault, Result};
use crate::number::signed;
use crate::write::WriteTx;
use crate::{append, change, create, session};

pub(super) fn step(tx: &WriteTx<'_>, step: &Step) -> Result<SourceId> {
    if let Some(path) = &step.beside {
        let latest = super::find(tx, &FindSource::Latest(path.clone()))?;
        check_beside(latest.first(), |id| {
            Ok::<_, Fault>(session::any(tx, id)?.header.deleted.is_some())
        })?;
    }
    let source = target(tx, step)?;
    let mut number = count(tx, source)?;
    for write in &step.writes {
        match write {
            Write::Create(new) => {
                create::create(tx, new, None)?;
                let sid = session::living(tx, &new.id)?.sid;
                row::add_session(tx, source, number, sid, new.events.len() as u64)?;
                number += 1;
            }
            Write::Append { session, append } => {
                append::append(tx, session, append)?;
                let sid = session::living(tx, session)?.sid;
                row::add_events(tx, sid, append.events.len() as u64)?;
            }
            Write::Leaf { session, leaf } => {
                change::change(tx, session, &Change::Leaf(Some(leaf.clone())))?;
            }
            Write::CopyOf { session, copy_of } => {
                change::change(tx, session, &Change::CopyOf(Some(copy_of.clone())))?;
            }
            Write::Title { session, title } => {
                change::change(tx, session, &Change::Title(title.clone()))?;
            }
        }
    }
    record(tx, source, step)?;
    place::add(tx, source, &step.places)?;
    row::add_names(tx, source, &step.names)?;
    row::add_names(tx, source, step.beside.as_deref().map(beside_name).as_slice())?;
    Ok(SourceId(source.unsigned_abs()))
}

fn count(conn: &Connection, source: i64) -> Result<i64> {
    let sql = "SELECT count(*) FROM source_session WHERE source = ?";
    Ok(conn.prepare_cached(sql)?.query_row([source], |row| row.get(0))?)
}

/// The source that the step is about, made now if it is new.
fn target(tx: &WriteTx<'_>, step: &Step) -> Result<i64> {
    let stale = |message: String| Fault::Refused(Error::Stale { what: "the source", message });
    match &step.target {
        Target::New { dialect, revision, first_line, latest } => {
            let sql = "SELECT max(source) FROM source_path WHERE path = ?";
            let now: Option<i64> =
                tx.prepare_cached(sql)?.query_row([&step.seen.path], |row| row.get(0))?;
            if now != latest.map(|id| signed(id.0)) {
                return Err(stale("the file was read by somebody else".into()));
            }
            row::insert(tx, dialect, *revision, *first_line)
        }
        Target::Known { id, offset } => {
            let id = signed(id.0);
            match row::find(tx, id)?.map(|stored| stored.source.read.offset) {
                Some(now) if now == *offset => Ok(id),
                Some(now) => Err(stale(format!("it is read up to byte {now}"))),
                None => Err(stale("it is gone".into())),
            }
        }
    }
}

fn record(tx: &WriteTx<'_>, source: i64, step: &Step) -> Result<()> {
    let missing = || Fault::damaged(format!("source row {source}"), "it is missing");
    let mut stored = row::find(tx, source)?.ok_or_else(missing)?;
    if !step.ranges.is_empty() {
        put_ranges(tx, step_key(source, stored.steps), &encode(&step.ranges))?;
        stored.steps += 1;
    }
    stored.source.native_id.clone_from(&step.native_id);
    stored.source.read = step.read.clone();
    stored.save(tx)?;
    row::saw(tx, source, &step.seen)
}

pub(super) fn put_ranges(tx: &WriteTx<'_>, k: i64, bytes: &[u8]) -> Result<()> {
    let sum = range_sum(k, bytes);
    tx.write(
        "INSERT OR REPLACE INTO source_range (k, crc, ranges) VALUES (?, ?, ?)",
        &[&k, &sum, &bytes],
    )?;
    Ok(())
}
