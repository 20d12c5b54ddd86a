//! Packing: compresses rarely read events, and joins histories that consist of many small spans.
//!
//! Packing reads events in small batches and compresses chunks without holding the gate. A short
//! write transaction then replaces the old rows, and skips those that have changed meanwhile. Only
//! the few events that have rows of their own are compressed inside that transaction.

mod budget;
mod compress;
mod join;

use std::sync::atomic::AtomicBool;

use forklore_store::Result;
use forklore_store::port::Packed;
use jiff::{SignedDuration, Timestamp};
use rusqlite::Connection;

use self::budget::Budget;
use crate::fault::Fault;
use crate::maintenance::{compact, store_bytes};
use crate::store::SqliteStore;

/// Packing rewrites the file if more than one in this many pages is free, i.e. more than a fourth
/// of the file.
const EMPTY: i64 = 4;
/// How long a family (all sessions with one root) must be unchanged before a background run packs
/// it.
const IDLE: SignedDuration = SignedDuration::from_hours(30 * 24);
/// Number of events after which one background run of packing stops. The last batch may exceed this
/// number.
const SOME: u64 = 1 << 14;

/// Compresses the events of every family without an update since `cold`. In all families, also
/// copies each history of many small ranges into one contiguous range.
pub(crate) fn pack(store: &SqliteStore, cold: Timestamp) -> Result<Packed> {
    let before = store_bytes(store.path())?;
    let mut budget = Budget::all();
    let histories = join::join(store, &mut budget)?;
    let events = compress::compress(store, cold, &mut budget)?;
    if events > 0 || histories > 0 {
        store.exclusive("giving back the space of", |conn| {
            let empty = is_empty(conn)?;
            compact(conn, empty)
        })?;
    }
    let freed_bytes = before.saturating_sub(store_bytes(store.path())?);
    Ok(Packed { freed_bytes, events, histories })
}

/// Packs some families in the background. Compresses the events of families that have been idle for
/// long, and joins histories of many small ranges. Stops after [`SOME`] events or when `ending` is
/// set; a later run packs the others. The file does not shrink, but later writes use the space that
/// became free.
pub(crate) fn some(store: &SqliteStore, ending: &AtomicBool) -> Result<()> {
    let mut budget = Budget::of(SOME, ending);
    join::join(store, &mut budget)?;
    // This is the system time and not the store's clock, because the question is whether a user is
    // likely to return to the family.
    compress::compress(store, Timestamp::now() - IDLE, &mut budget)?;
    Ok(())
}

/// Checks whether more than a fourth of the database file's pages are free.
fn is_empty(conn: &Connection) -> Result<bool, Fault> {
    let count = |name| conn.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    Ok(count("freelist_count")? > count("page_count")? / EMPTY)
}
