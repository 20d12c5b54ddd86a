//! Packing: what is seldom read takes less space, and histories of many small pieces become one.
//!
//! Everything is read outside the gate in small batches, and chunks are compressed there too; the
//! short step that replaces what was read finds it unchanged or leaves it. Events in rows of their
//! own, of which there are few, are sealed in that step.

mod budget;
mod compact;
mod compress;

use std::sync::atomic::AtomicBool;

use forklore_store::Result;
use forklore_store::port::Packed;
use jiff::{SignedDuration, Timestamp};
use rusqlite::Connection;

use self::budget::Budget;
use crate::fault::Fault;
use crate::maintenance::{compact, store_bytes};
use crate::store::SqliteStore;

/// The part of the file that may lie empty before it is written anew: a fourth.
const EMPTY: i64 = 4;
/// How long a family is left alone before it is packed beside the steps of a store.
const IDLE: SignedDuration = SignedDuration::from_hours(30 * 24);
/// The events that are packed each time.
const SOME: u64 = 1 << 14;

/// Packs the families that no session of was updated since `cold`, and joins histories.
pub(crate) fn pack(store: &SqliteStore, cold: Timestamp) -> Result<Packed> {
    let before = store_bytes(store.path())?;
    let mut budget = Budget::all();
    let histories = compact::join(store, &mut budget)?;
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

/// Packs some of what is idle, until somebody waits for the end; the rest has its turn another time.
/// The file stays as long as it is: what comes next is written where it became empty.
pub(crate) fn some(store: &SqliteStore, ending: &AtomicBool) -> Result<()> {
    let mut budget = Budget::of(SOME, ending);
    compact::join(store, &mut budget)?;
    // Whether somebody may come back to a family is a matter of the machine's time.
    compress::compress(store, Timestamp::now() - IDLE, &mut budget)?;
    Ok(())
}

/// Whether much of the file holds nothing any more.
fn is_empty(conn: &Connection) -> Result<bool, Fault> {
    let count = |name| conn.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    Ok(count("freelist_count")? > count("page_count")? / EMPTY)
}
