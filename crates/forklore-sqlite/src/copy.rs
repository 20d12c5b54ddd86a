//! Copying an assembled prefix into a segment of its own, for `replay_v1` and detach.
//!
//! A long prefix is copied in small batches, each its own transaction, into a segment that nobody
//! names yet; the transaction that publishes it copies the rest and checks that all is there. A
//! staged segment whose copier died is invisible, and gc erases it.

use std::time::{SystemTime, UNIX_EPOCH};

use forklore_core::lineage::Span;
use forklore_core::{Counts, SessionId};
use forklore_store::{Error, Result as StoreResult};
use rusqlite::Connection;

use crate::SqliteStore;
use crate::ancestry::Ancestry;
use crate::fault::Result;
use crate::pack_rows;
use crate::private::{self, Private};
use crate::read;
use crate::row::Row;
use crate::segment::{self, Segment};
use crate::session;
use crate::write::WriteTx;

/// Events copied in one transaction: whole blocks.
pub(crate) const BATCH: u64 = 512;

/// How long after its last sign of life a copy counts as abandoned, in microseconds.
pub(crate) const ABANDONED: i64 = 10_000_000;

/// A copy in the making.
pub(crate) struct Staged {
    pub(crate) segment: Segment,
    /// Whose history it copies.
    of: SessionId,
}

/// Copies all but the last few of the first `kept` inheritable events of a session's history.
pub(crate) fn stage(store: &SqliteStore, of: &SessionId, kept: u64) -> StoreResult<Staged> {
    let staged = store.write("copying events in", |tx| Staged::begin(tx, of, kept))?;
    staged.copy(store, kept).inspect_err(|_| staged.abandon(store))?;
    Ok(staged)
}

impl Staged {
    /// A copy of which nothing is copied yet.
    pub(crate) fn begin(tx: &WriteTx<'_>, of: &SessionId, kept: u64) -> Result<Self> {
        let root = session::living(tx, of)?.root;
        let segment = private::begin(tx, root, kept, now())?.segment;
        Ok(Self { segment, of: of.clone() })
    }

    /// Copies all but the last few.
    fn copy(&self, store: &SqliteStore, kept: u64) -> StoreResult<()> {
        let mut copied = 0;
        while kept - copied > BATCH {
            let batch = copied..copied + BATCH;
            // Read outside the write transaction: the events before a cut never change.
            let rows = store.read_with("reading", |conn| self.rows(conn, batch.clone()))?;
            store.write("copying events in", |tx| {
                self.still_there(tx)?;
                pack_rows::add(tx, &rows)
            })?;
            copied += BATCH;
        }
        Ok(())
    }

    /// Completes the copy, checks it, and gives the one span that names it.
    pub(crate) fn publish(&self, tx: &WriteTx<'_>, root: Segment, kept: u64) -> Result<Ancestry> {
        let private = self.still_there(tx)?;
        let copied = segment::end(tx, self.segment)?;
        let rest = self.rows(tx, copied..kept)?;
        pack_rows::add(tx, &rest)?;
        if segment::end(tx, self.segment)? != kept {
            return Err(self.lost());
        }
        Private { heartbeat: None, root, ..private }.save(tx)?;
        let segment = self.segment.unsigned_abs();
        let span = Span { segment, to: kept, base: Counts::default() };
        Ok(Ancestry { page: None, spans: vec![span] })
    }

    /// Erases what was copied, as far as it can be.
    pub(crate) fn abandon(&self, store: &SqliteStore) {
        // What stays is erased by gc, so a second failure here loses nothing.
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

    /// Says that the copy goes on, unless somebody erased it meanwhile.
    fn still_there(&self, tx: &WriteTx<'_>) -> Result<Private> {
        match private::find(tx, self.segment)? {
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
        Error::Stale { what: "the copied history", message }.into()
    }
}

/// Erases a private segment.
pub(crate) fn erase(tx: &WriteTx<'_>, segment: Segment) -> Result<u64> {
    let erased = segment::erase_from(tx, segment, 0)?;
    private::forget(tx, segment)?;
    if erased > 0 {
        tx.write("UPDATE upkeep SET erased = 1", &[])?;
    }
    Ok(erased)
}

/// The staged segments whose copier gave no sign of life for a while.
pub(crate) fn abandoned(conn: &Connection) -> Result<Vec<Segment>> {
    let is_old = |private: &Private| private.heartbeat.is_some_and(|beat| beat < now() - ABANDONED);
    let old = private::all(conn)?.into_iter().filter(is_old);
    Ok(old.map(|private| private.segment).collect())
}

/// The machine's clock: whether a copier lives is a matter between processes, not of sessions.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}
