//! Copies a session's assembled prefix into a private segment, for `replay_v1` and `detach`. `pack`
//! uses the same copies to join histories.
//!
//! A long prefix is copied in small batches, each in its own transaction, into a staged segment:
//! one to which no session refers yet. The transaction that publishes the segment copies the
//! remaining events, and checks that the segment is complete. If the copying process dies, the
//! staged segment stays invisible until `gc` erases it.

use std::time::{SystemTime, UNIX_EPOCH};

use forklore_core::lineage::Span;
use forklore_core::{Counts, SessionId};
use forklore_store::{Error, Result as StoreResult};
use rusqlite::Connection;

use crate::SqliteStore;
use crate::ancestry::Ancestry;
use crate::fault::Result;
use crate::private_segment::{self, Private};
use crate::read;
use crate::row::Row;
use crate::segment::{self, Segment};
use crate::session;
use crate::tail;
use crate::write_tx::WriteTx;

/// Number of events that a copy of a history writes in one transaction. It is a multiple of 64, the
/// number of events in a full chunk.
pub(crate) const BATCH: u64 = 512;

/// The time in microseconds after which an unfinished copy of a history counts as abandoned,
/// because its process is assumed to have died. The time is counted from the last heartbeat of that
/// process.
pub(crate) const ABANDONED: i64 = 10_000_000;

/// An unfinished copy of the first inheritable events of a session's history. No session refers to
/// it yet.
pub(crate) struct Staged {
    pub(crate) segment: Segment,
    /// The session whose history is being copied.
    of: SessionId,
}

/// Copies the first `count` inheritable events of the session `of` into a new segment (a group of
/// events stored together). Leaves out the last batch, which has at most [`BATCH`] events:
/// [`Staged::publish`] copies it.
pub(crate) fn stage(store: &SqliteStore, of: &SessionId, count: u64) -> StoreResult<Staged> {
    let staged = store.write("copying events in", |tx| Staged::begin(tx, of, count))?;
    staged.copy(store, count).inspect_err(|_| staged.abandon(store))?;
    Ok(staged)
}

impl Staged {
    /// Registers a new, empty segment, into which the first `count` inheritable events of the
    /// session `of` will be copied.
    pub(crate) fn begin(tx: &WriteTx<'_>, of: &SessionId, count: u64) -> Result<Self> {
        let root = session::living(tx, of)?.root;
        let segment = private_segment::begin(tx, root, count, now())?.segment;
        Ok(Self { segment, of: of.clone() })
    }

    /// Copies the first `count` inheritable events of the session, except the last batch. Each
    /// batch of [`BATCH`] events is a transaction of its own.
    fn copy(&self, store: &SqliteStore, count: u64) -> StoreResult<()> {
        let mut copied = 0;
        while count - copied > BATCH {
            let batch = copied..copied + BATCH;
            // Reads the events outside the write transaction. That is safe because events before a
            // cut never change.
            let rows = store.read_with("reading", |conn| self.rows(conn, batch.clone()))?;
            store.write("copying events in", |tx| {
                self.still_there(tx)?;
                tail::write(tx, &rows)
            })?;
            copied += BATCH;
        }
        Ok(())
    }

    /// Completes the copy: copies the remaining events, and checks that none is missing. Returns
    /// the ancestry (a list of inherited ranges) with which a session refers to the copy. It has
    /// one range, the whole copy.
    pub(crate) fn publish(&self, tx: &WriteTx<'_>, root: Segment, count: u64) -> Result<Ancestry> {
        let private = self.still_there(tx)?;
        let copied = segment::end(tx, self.segment)?;
        let rest = self.rows(tx, copied..count)?;
        tail::write_last(tx, &rest)?;
        if segment::end(tx, self.segment)? != count {
            return Err(self.lost());
        }
        Private { heartbeat: None, root, ..private }.save(tx)?;
        let segment = self.segment.unsigned_abs();
        let span = Span { segment, to: count, base: Counts::default() };
        Ok(Ancestry { page: None, spans: vec![span] })
    }

    /// Gives up an unfinished copy of a history: erases the events that were copied so far. Ignores
    /// a failure.
    pub(crate) fn abandon(&self, store: &SqliteStore) {
        // A failure is harmless: `gc` erases abandoned copies.
        let _ = store.write("erasing a copy in", |tx| erase(tx, self.segment));
    }

    fn rows(&self, conn: &Connection, batch: std::ops::Range<u64>) -> Result<Vec<Row>> {
        let (from, to) = (batch.start, batch.end);
        let events = read::inheritable(conn, &self.of, from, to)?;
        let rows = events
            .into_iter()
            .zip(from..)
            .map(|(row, position)| Row { k: segment::key(self.segment, position), ..row });
        Ok(rows.collect())
    }

    /// Checks that the copy still exists and is unpublished, and sets its heartbeat to the current
    /// time.
    ///
    /// # Errors
    /// `Stale` if the copy was erased or published meanwhile.
    fn still_there(&self, tx: &WriteTx<'_>) -> Result<Private> {
        match private_segment::find(tx, self.segment)? {
            Some(found) if found.heartbeat.is_some() => {
                let beating = Private { heartbeat: Some(now()), ..found };
                beating.save(tx)?;
                Ok(beating)
            }
            _ => Err(self.lost()),
        }
    }

    fn lost(&self) -> crate::fault::Fault {
        let message = format!("the copy of {} is no longer whole", self.of);
        Error::Stale { what: "the copied history".into(), message }.into()
    }
}

/// Erases a private segment, i.e. a copy of a session's prefix. Returns the number of erased
/// events.
pub(crate) fn erase(tx: &WriteTx<'_>, segment: Segment) -> Result<u64> {
    let erased = segment::erase_from(tx, segment, 0)?;
    private_segment::forget(tx, segment)?;
    if erased > 0 {
        tx.write("UPDATE upkeep SET erased = 1", &[])?;
    }
    Ok(erased)
}

/// Returns the segments of unfinished copies whose process seems to have died: their last heartbeat
/// is older than [`ABANDONED`].
pub(crate) fn abandoned(conn: &Connection) -> Result<Vec<Segment>> {
    let is_old = |private: &Private| private.heartbeat.is_some_and(|beat| beat < now() - ABANDONED);
    let old = private_segment::all(conn)?.into_iter().filter(is_old);
    Ok(old.map(|private| private.segment).collect())
}

/// Returns the system time in microseconds since 1970. The store's clock cannot be used for
/// heartbeats: tests replace it, but a heartbeat must show whether a process is alive.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}
