//! Packing: compresses rarely read events, and joins histories of many small pieces into one.
//!
//! Everything is read in small batches outside the gate, and chunks are compressed there too. The
//! short write transaction that replaces what was read skips whatever has changed meanwhile. Events
//! in rows of their own, of which there are few, are compressed in that transaction.

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

/// The file is rewritten if more than one part in this many is empty: a fourth.
const EMPTY: i64 = 4;
/// How long a family must be idle before it is packed in the background.
const IDLE: SignedDuration = SignedDuration::from_hours(30 * 24);
/// Maximum number of events packed each time in the background.
const SOME: u64 = 1 << 14;

/// Packs the families of which no session was updated since `cold`, and joins histories.
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

/// Packs some idle families, until `ending` is set; the rest is packed another time. The file does
/// not shrink: later writes use the space that became free.
pub(crate) fn some(store: &SqliteStore, ending: &AtomicBool) -> Result<()> {
    let mut budget = Budget::of(SOME, ending);
    compact::join(store, &mut budget)?;
    // Machine time, because the question is whether a user may return to a family.
    compress::compress(store, Timestamp::now() - IDLE, &mut budget)?;
    Ok(())
}

/// Checks whether much of the file is free.
fn is_empty(conn: &Connection) -> Result<bool, Fault> {
    let count = |name| conn.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    Ok(count("freelist_count")? > count("page_count")? / EMPTY)
}
