//! Packing: what is seldom read takes less space, and histories of many small pieces become one.
//!
//! Everything is copied in small batches, read and compressed outside the gate; the short step that
//! replaces what was read finds it unchanged or leaves it.

mod cold;
mod join;

use forklore_store::Result;
use forklore_store::port::Packed;
use jiff::Timestamp;
use rusqlite::Connection;

use crate::fault::Fault;
use crate::store::SqliteStore;
use crate::upkeep::{compact, store_bytes};

/// The part of the file that may lie empty before it is written anew: a fourth.
const EMPTY: i64 = 4;

/// Packs the families that no session of was updated since `cold`, and joins histories.
pub(crate) fn pack(store: &SqliteStore, cold: Timestamp) -> Result<Packed> {
    let before = store_bytes(store.path())?;
    let histories = join::join(store)?;
    let events = cold::compress(store, cold)?;
    if events > 0 || histories > 0 {
        store.exclusive("giving back the space of", |conn| {
            let empty = is_empty(conn)?;
            compact(conn, empty)
        })?;
    }
    let freed_bytes = before.saturating_sub(store_bytes(store.path())?);
    Ok(Packed { freed_bytes, events, histories })
}

/// Whether much of the file holds nothing any more.
fn is_empty(conn: &Connection) -> Result<bool, Fault> {
    let count = |name| conn.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    Ok(count("freelist_count")? > count("page_count")? / EMPTY)
}
