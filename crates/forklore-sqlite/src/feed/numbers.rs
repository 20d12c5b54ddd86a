//! The numbers of transactions. Each is larger than those of all transactions that any process
//! committed before.

use rusqlite::Connection;

use crate::crc::Fields;
use crate::fault::{Fault, Result};
use crate::migrate;
use crate::number::{signed, unsigned};

/// The first store version that has a feed.
const FIRST_VERSION: i64 = 4;

/// Maximum number of transaction numbers that a connection reserves at once.
const MOST: u64 = 1 << 10;

/// Numbers that the writing connection has reserved. They stay valid until another connection
/// commits, which SQLite's `data_version` shows, so the row with the counter is rarely written.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Numbers {
    /// SQLite's `data_version` when they were reserved; `None` on a new connection.
    version: Option<i64>,
    next: u64,
    end: u64,
}

/// The feed columns in the only row of `upkeep`.
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

/// Checks whether the store has a feed. A store of an older version that is opened for reading only
/// has none.
pub(super) fn is_there(conn: &Connection) -> Result<bool> {
    Ok(migrate::stored_version(conn)? >= FIRST_VERSION)
}

/// Returns the name of the feed, and the first number that no transaction can have used yet.
pub(super) fn of(conn: &Connection) -> Result<(String, u64)> {
    row(conn).map(|row| (row.store, row.next))
}

/// Checks the checksum of the row.
pub(crate) fn check(conn: &Connection) -> Result<()> {
    if !is_there(conn)? {
        return Ok(());
    }
    row(conn).map(drop)
}

impl Numbers {
    /// Returns the number for a transaction that begins on the connection, and the numbers that
    /// remain once it is committed. Calls `check` first if another connection may have committed
    /// meanwhile.
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
