//! The numbers of transactions: each is larger than those of all transactions committed before, of
//! whatever process.

use rusqlite::Connection;

use crate::crc::Fields;
use crate::fault::{Fault, Result};
use crate::migrate;
use crate::number::{signed, unsigned};

/// The first version of a store that has a feed.
const FIRST_VERSION: i64 = 4;

/// The most numbers that a connection reserves at once.
const MOST: u64 = 1 << 10;

/// Numbers that the connection which writes has reserved. They are good for as long as nobody else
/// commits, which SQLite tells; so the row that counts them is written seldom.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Numbers {
    /// What SQLite said when they were reserved; none on a new connection.
    version: Option<i64>,
    next: u64,
    end: u64,
}

/// What the store's one row of `upkeep` says of its feed.
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

/// Whether the store has a feed: one of an older version that is only read has none.
pub(super) fn is_there(conn: &Connection) -> Result<bool> {
    Ok(migrate::stored_version(conn)? >= FIRST_VERSION)
}

/// What the feed is called, and the first number that no transaction may have used yet.
pub(super) fn of(conn: &Connection) -> Result<(String, u64)> {
    row(conn).map(|row| (row.store, row.next))
}

/// Checks the row.
pub(crate) fn check(conn: &Connection) -> Result<()> {
    if !is_there(conn)? {
        return Ok(());
    }
    row(conn).map(drop)
}

impl Numbers {
    /// The number of a transaction that begins on the connection, and what is left once it is
    /// committed. `check` runs first wherever another connection may have committed since.
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
        // Where several processes write in turn, each takes one number at a time.
        let reserve = if undisturbed { MOST } else { 1 };
        let Row { store, next } = row(tx)?;
        let end = next + reserve;
        let sql = "UPDATE upkeep SET feed_next = ?, feed_crc = ?";
        tx.prepare_cached(sql)?.execute([signed(end), sum(&store, end)])?;
        Ok((next, Self { version: Some(version), next: next + 1, end }))
    }
}
