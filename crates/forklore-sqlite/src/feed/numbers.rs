//! Assigns a feed number to each write transaction. The number is larger than the numbers of all
//! transactions that any process committed before.

use rusqlite::Connection;

use crate::crc::Fields;
use crate::fault::{Fault, Result};
use crate::integer::{signed, unsigned};
use crate::migrate;

/// The first version of the store's format that has a feed (the sequence of changed sessions).
const FIRST_VERSION: i64 = 4;

/// Maximum number of transaction numbers that the writing connection reserves at once.
const MOST: u64 = 1 << 10;

/// Numbers that the writing connection has reserved for its future transactions. Because of the
/// reservation, the connection rarely needs to write the row with the counter. The numbers become
/// invalid when another connection commits, which changes SQLite's `data_version`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Numbers {
    /// SQLite's `data_version` at the time the numbers were reserved. `None` on a new connection.
    version: Option<i64>,
    next: u64,
    end: u64,
}

/// The feed's columns in the table `upkeep`, which has a single row for the whole store. The feed
/// is the sequence of changed sessions.
struct Row {
    store: String,
    next: u64,
}

fn sum(store: &str, next: u64) -> i64 {
    let fields = Fields::default().bytes(Some(store.as_bytes()));
    i64::from(fields.number(Some(signed(next))).sum())
}

fn row(conn: &Connection) -> Result<Row> {
    let sql = "SELECT feed, feed_next, feed_crc FROM upkeep";
    let found = conn.prepare_cached(sql)?.query_row([], |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?, row.get::<_, Option<i64>>(2)?))
    });
    let damaged = || Fault::damaged("the row of upkeep", "its fields do not fit their checksum");
    let (store, next, crc) = found?;
    let next = unsigned(next)?;
    let fresh = crc.is_none() && next == 1;
    if !fresh && crc != Some(sum(&store, next)) {
        return Err(damaged());
    }
    Ok(Row { store, next })
}

/// Checks whether the store has a feed. Only a store in an older format has none, and such a store
/// can only be open for reading.
pub(super) fn is_there(conn: &Connection) -> Result<bool> {
    Ok(migrate::stored_version(conn)? >= FIRST_VERSION)
}

/// Returns the id by which marks (positions in the feed of changed sessions) name this store. Also
/// returns the lowest transaction number that no connection has reserved.
pub(super) fn of(conn: &Connection) -> Result<(String, u64)> {
    row(conn).map(|row| (row.store, row.next))
}

/// Checks the feed's columns in the single row of the table `upkeep` against their checksum. Does
/// nothing for an old store without a feed.
pub(crate) fn check(conn: &Connection) -> Result<()> {
    if !is_there(conn)? {
        return Ok(());
    }
    row(conn).map(drop)
}

/// Gives the feed a new identity, so that no mark of another store is taken for one of this store.
/// Does nothing for an old store without a feed.
pub(crate) fn renew(conn: &Connection) -> Result<()> {
    if !is_there(conn)? {
        return Ok(());
    }
    let Row { next, .. } = row(conn)?;
    let fresh: String = conn.query_row("SELECT lower(hex(randomblob(8)))", [], |row| row.get(0))?;
    conn.execute("UPDATE upkeep SET feed = ?, feed_crc = ?", (&fresh, sum(&fresh, next)))?;
    Ok(())
}

impl Numbers {
    /// Returns a number for the transaction `tx`, from the reserved ones if possible. Also returns
    /// the remaining reservation, which the caller stores after the commit. First calls `check` if
    /// another connection may have committed since the numbers were reserved.
    pub(crate) fn take(
        self,
        tx: &Connection,
        check: impl FnOnce() -> Result<()>,
    ) -> Result<(u64, Self)> {
        let version = tx.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))?;
        let undisturbed = self.version == Some(version);
        if !undisturbed {
            check()?;
        }
        if undisturbed && self.next < self.end {
            return Ok((self.next, Self { next: self.next + 1, ..self }));
        }
        // If several processes write alternately, each reserves one number at a time.
        let reserve = if undisturbed { MOST } else { 1 };
        let Row { store, next } = row(tx)?;
        let end = next + reserve;
        let sql = "UPDATE upkeep SET feed_next = ?, feed_crc = ?";
        tx.prepare_cached(sql)?.execute([signed(end), sum(&store, end)])?;
        Ok((next, Self { version: Some(version), next: next + 1, end }))
    }
}
