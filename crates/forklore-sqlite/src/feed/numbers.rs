//! The numbers of transactions: each is larger than those of all transactions committed before, of
//! whatever process.

use rusqlite::Connection;

use crate::crc::Fields;
use crate::fault::{Fault, Result};
use crate::number::{signed, unsigned};

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

/// The one row of the feed.
struct Row {
    store: String,
    next: u64,
}

fn sum(store: &str, next: u64) -> i64 {
    let numbers = Fields::default().number(Some(1)).bytes(Some(store.as_bytes()));
    i64::from(numbers.number(Some(signed(next))).sum())
}

fn row(conn: &Connection) -> Result<Row> {
    let sql = "SELECT store, next, crc FROM feed WHERE one = 1";
    let found = conn.prepare_cached(sql)?.query_row([], |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?, row.get::<_, Option<i64>>(2)?))
    });
    let damaged = || Fault::damaged("feed row 1", "its fields do not fit their checksum");
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
    let sql = "SELECT EXISTS (SELECT 1 FROM main.sqlite_schema WHERE name = 'feed')";
    Ok(conn.prepare_cached(sql)?.query_row([], |row| row.get(0))?)
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
    /// committed.
    pub(crate) fn take(self, tx: &Connection) -> Result<(u64, Self)> {
        let version = tx.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))?;
        let undisturbed = self.version == Some(version);
        if undisturbed && self.next < self.end {
            return Ok((self.next, Self { next: self.next + 1, ..self }));
        }
        // Where several processes write in turn, each takes one number at a time.
        let reserve = if undisturbed { MOST } else { 1 };
        let Row { store, next } = row(tx)?;
        let end = next + reserve;
        let sql = "UPDATE feed SET next = ?, crc = ? WHERE one = 1";
        tx.prepare_cached(sql)?.execute([signed(end), sum(&store, end)])?;
        Ok((next, Self { version: Some(version), next: next + 1, end }))
    }
}
