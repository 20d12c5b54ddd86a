//! One step of an import: stores how much of the source has been read, in the same transaction as
//! the events from it.

use forklore_store::Error;
use forklore_store::port::Write;
use forklore_store::sources::{
    FindSource, SourceId, SourceStep, Target, check_sidecar, encode, sidecar_key,
};
use rusqlite::Connection;

use super::{range_sum, record_locations, row, step_key};
use crate::fault::{Fault, Result};
use crate::integer::signed;
use crate::session;
use crate::write_tx::WriteTx;

/// One step of an import of a file, while its transaction is open.
pub(crate) struct Import<'t> {
    step: &'t SourceStep,
    source: i64,
    /// Number of sessions that all steps so far have imported from the file.
    sessions: i64,
}

impl<'t> Import<'t> {
    /// Begins an import step. Finds or inserts the source (the imported file), and checks that the
    /// source is in the state that the step expects.
    pub(crate) fn begin(tx: &WriteTx<'_>, step: &'t SourceStep) -> Result<Self> {
        if let Some(path) = &step.sidecar_of {
            let latest = super::find(tx, &FindSource::Latest(path.clone()))?;
            check_sidecar(latest.first(), |id| {
                Ok::<_, Fault>(session::any(tx, id)?.header.deleted.is_some())
            })?;
        }
        let source = target(tx, step)?;
        Ok(Self { step, source, sessions: count(tx, source)? })
    }

    /// Records what one write of the import step did to the sessions of the imported file. A
    /// created session is added to the file's list of sessions. An append increases the recorded
    /// number of events that the session has from the file.
    pub(crate) fn note(&mut self, tx: &WriteTx<'_>, write: &Write) -> Result<()> {
        match write {
            Write::Create(new) => {
                let sid = session::living(tx, &new.id)?.sid;
                let events = new.events.len() as u64;
                row::add_session(tx, self.source, self.sessions, sid, events)?;
                self.sessions += 1;
                Ok(())
            }
            Write::Append { session, append } => {
                let sid = session::living(tx, session)?.sid;
                row::add_events(tx, sid, append.events.len() as u64)
            }
            Write::Change { .. } | Write::Remove(_) | Write::Redact(_) => Ok(()),
        }
    }

    /// Completes an import step. Records how much of the file was read, and the record locations
    /// and names that the step found. Returns the id of the source.
    pub(crate) fn finish(self, tx: &WriteTx<'_>) -> Result<SourceId> {
        let Self { step, source, .. } = self;
        record(tx, source, step)?;
        record_locations::add(tx, source, &step.locations)?;
        row::add_names(tx, source, &step.names)?;
        row::add_names(tx, source, step.sidecar_of.as_deref().map(sidecar_key).as_slice())?;
        Ok(SourceId(source.unsigned_abs()))
    }
}

fn count(conn: &Connection, source: i64) -> Result<i64> {
    let sql = "SELECT count(*) FROM source_session WHERE source = ?";
    Ok(conn.prepare_cached(sql)?.query_row([source], |row| row.get(0))?)
}

/// Returns the number of the source to which the step belongs. Inserts the source if this is its
/// first step.
///
/// # Errors
/// `Stale` if another import has read the file meanwhile.
fn target(tx: &WriteTx<'_>, step: &SourceStep) -> Result<i64> {
    let stale =
        |message: String| Fault::Refused(Error::Stale { what: "the source".into(), message });
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
        Target::State { id, offset } => {
            let id = signed(id.0);
            match row::find(tx, id)?.map(|stored| stored.source.read.offset) {
                Some(now) if now == *offset => Ok(id),
                Some(now) => Err(stale(format!("it is read up to byte {now}"))),
                None => Err(stale("it is gone".into())),
            }
        }
    }
}

fn record(tx: &WriteTx<'_>, source: i64, step: &SourceStep) -> Result<()> {
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
