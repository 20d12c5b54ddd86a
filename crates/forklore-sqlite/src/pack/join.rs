//! Joins histories that consist of very many small spans.
//!
//! Reading the history of a chain of a thousand forks with five events each takes a thousand reads.
//! Packing copies the events of that history once into a private segment, which belongs to no
//! session. Every ancestry page of the chain (a row with inherited spans) then refers to a prefix
//! of this copy. A session whose history uses such a page then reads that prefix as one range.

use forklore_core::lineage::Span;
use forklore_core::{Counts, SessionId};
use forklore_store::{Error, Result as StoreResult};
use rusqlite::Connection;

use super::budget::Budget;
use crate::ancestry;
use crate::copy;
use crate::fault::Result;
use crate::read;
use crate::segment::Segment;
use crate::session;
use crate::store::SqliteStore;

/// Minimum number of spans (ranges of events) of a history that is joined, i.e. copied into one
/// range.
const SPANS: u64 = 64;
/// A history with on average at least this many events per span is already fast to read. It is not
/// joined, i.e. not copied into one range.
const EVENTS: u64 = 64;

/// The ancestry pages (rows with inherited ranges) of one history, last page first. Each comes with
/// the counts after its last range.
struct Chain {
    session: SessionId,
    root: Segment,
    pages: Vec<(i64, Counts)>,
    retained: u64,
}

/// Replaces histories that consist of many small ranges by contiguous copies. Returns how many
/// histories it joined.
pub(super) fn join(store: &SqliteStore, budget: &mut Budget<'_>) -> StoreResult<u64> {
    let mut joined = 0;
    for (page, sid) in store.read_with("reading", candidates)? {
        joined += match one(store, page, sid, budget) {
            Ok(done) => u64::from(done),
            // A history that is damaged, or that was deleted meanwhile, is skipped.
            Err(
                Error::Corrupt { .. }
                | Error::MissingAncestor { .. }
                | Error::Deleted(_)
                | Error::Stale { .. },
            ) => 0,
            Err(error) => return Err(error),
        };
    }
    Ok(joined)
}

/// Joins the inherited ranges of one history into a contiguous copy. `page` is the last ancestry
/// page of the history. Returns false if joining is not worthwhile, if the budget does not allow
/// it, or if the history changed meanwhile.
fn one(store: &SqliteStore, page: i64, sid: Segment, budget: &mut Budget<'_>) -> StoreResult<bool> {
    let found = store.read_with("reading", |conn| chain(conn, page, sid))?;
    let Some(found) = found.filter(|found| budget.allows(found.retained)) else {
        return Ok(false);
    };
    budget.spend(found.retained);
    // Read all events before copying them. Otherwise each run would copy a damaged history up to
    // the damage and then erase the copy.
    let mut from = 0;
    while from < found.retained {
        let to = found.retained.min(from + copy::BATCH);
        store.read_with("reading", |conn| read::inheritable(conn, &found.session, from, to))?;
        if !budget.allows(0) {
            return Ok(false);
        }
        from = to;
    }
    let staged = copy::stage(store, &found.session, found.retained)?;
    let done = store.write("joining a history in", |tx| {
        let now = chain(tx, page, sid)?;
        if now.is_none_or(|now| now.pages != found.pages) {
            return Ok(false);
        }
        for span in staged.publish(tx, found.root, found.retained)?.spans {
            for (page, end) in &found.pages {
                ancestry::replace_page(tx, *page, Span { to: end.inheritable, ..span }, *end)?;
            }
        }
        Ok(true)
    });
    if !done.as_ref().is_ok_and(|done| *done) {
        staged.abandon(store);
    }
    done
}

/// Returns the histories with many ancestry pages, longest first. For each history, returns its
/// last page and the number of a session that uses this page.
fn candidates(conn: &Connection) -> Result<Vec<(i64, Segment)>> {
    let least = SPANS / ancestry::WIDTH as u64;
    let mut statement = conn.prepare(
        "SELECT page, min(ancestry.sid) FROM ancestry JOIN ancestry_page ON ancestry_page.id = page
         WHERE depth + 1 >= ? GROUP BY page ORDER BY depth DESC, page",
    )?;
    let rows = statement.query_map([least.cast_signed()], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Returns the ancestry pages of the history whose last page is `page`. Returns `None` if joining
/// the history into one range is not worthwhile, or if the session `sid` is deleted or does not use
/// `page` any more.
fn chain(conn: &Connection, page: i64, sid: Segment) -> Result<Option<Chain>> {
    let session = session::numbered(conn, sid)?;
    if session.header.deleted.is_some() || ancestry::load(conn, sid)?.page != Some(page) {
        return Ok(None);
    }
    let mut chain =
        Chain { session: session.header.id, root: session.root, pages: Vec::new(), retained: 0 };
    let mut spans = 0;
    let mut next = Some(page);
    while let Some(id) = next {
        let page = ancestry::page(conn, id)?;
        chain.retained = chain.retained.max(page.end.inheritable);
        chain.pages.push((id, page.end));
        spans += page.before.spans.len() as u64;
        next = page.before.page;
    }
    Ok((spans >= SPANS && chain.retained / spans < EVENTS).then_some(chain))
}
