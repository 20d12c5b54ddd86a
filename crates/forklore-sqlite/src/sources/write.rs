//! One step of an import: sessions, events and what is known of the file, together.

use forklore_store::Error;
use forklore_store::port::Change;
use forklore_store::sources::{SourceId, Step, Target, Write, encode};
use rusqlite::{Connection, OptionalExtension};

use super::{place, step_key};
use crate::fault::{Fault, Result};
use crate::number::signed;
use crate::write::WriteTx;
use crate::{append, change, crc, create, session};

pub(super) fn step(tx: &WriteTx<'_>, step: &Step) -> Result<SourceId> {
    let source = target(tx, step)?;
    let mut number = count(tx, source)?;
    for write in &step.writes {
        match write {
            Write::Create(new) => {
                create::create(tx, new, None)?;
                let sid = session::living(tx, &new.id)?.sid;
                tx.write(
                    "INSERT INTO source_session (source, number, sid, events) VALUES (?, ?, ?, ?)",
                    &[&source, &number, &sid, &signed(new.events.len() as u64)],
                )?;
                number += 1;
            }
            Write::Append { session, append } => {
                append::append(tx, session, append)?;
                let sid = session::living(tx, session)?.sid;
                tx.write(
                    "UPDATE source_session SET events = events + ? WHERE sid = ?",
                    &[&signed(append.events.len() as u64), &sid],
                )?;
            }
            Write::Leaf { session, leaf } => {
                change::change(tx, session, &Change::Leaf(Some(leaf.clone())))?;
            }
            Write::Title { session, title } => {
                change::change(tx, session, &Change::Title(title.clone()))?;
            }
        }
    }
    record(tx, source, step)?;
    place::add(tx, source, &step.places)?;
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
            tx.write(
                "INSERT INTO source
                     (dialect, native_id, revision, first_line, offset, sha256, state, steps)
                 VALUES (?, '', ?, ?, 0, x'', '', 0)",
                &[dialect, &signed(*revision), &first_line.cast_signed()],
            )?;
            Ok(tx.last_insert_rowid())
        }
        Target::Known { id, offset } => {
            let id = signed(id.0);
            let sql = "SELECT offset FROM source WHERE id = ?";
            let now: Option<i64> =
                tx.prepare_cached(sql)?.query_row([id], |row| row.get(0)).optional()?;
            match now {
                Some(now) if now == signed(*offset) => Ok(id),
                Some(now) => Err(stale(format!("it is read up to byte {now}"))),
                None => Err(stale("it is gone".into())),
            }
        }
    }
}

fn record(tx: &WriteTx<'_>, source: i64, step: &Step) -> Result<()> {
    let steps = i64::from(!step.ranges.is_empty());
    if steps > 0 {
        let sql = "SELECT steps FROM source WHERE id = ?";
        let number: i64 = tx.prepare_cached(sql)?.query_row([source], |row| row.get(0))?;
        put_ranges(tx, step_key(source, number), &encode(&step.ranges))?;
    }
    let read = &step.read;
    tx.write(
        "UPDATE source SET native_id = ?, offset = ?, sha256 = ?, state = ?, steps = steps + ?
         WHERE id = ?",
        &[&step.native_id, &signed(read.offset), &read.sha256, &read.state, &steps, &source],
    )?;
    let seen = &step.seen;
    tx.write(
        "INSERT INTO source_path (source, path, size, modified) VALUES (?, ?, ?, ?)
         ON CONFLICT (path, source) DO UPDATE SET size = excluded.size,
             modified = excluded.modified",
        &[&source, &seen.path, &signed(seen.size), &seen.modified],
    )?;
    Ok(())
}

pub(super) fn put_ranges(tx: &WriteTx<'_>, k: i64, bytes: &[u8]) -> Result<()> {
    let sum = i64::from(crc::payload(bytes));
    tx.write(
        "INSERT OR REPLACE INTO source_range (k, crc, ranges) VALUES (?, ?, ?)",
        &[&k, &sum, &bytes],
    )?;
    Ok(())
}
