//! An open write transaction. It counts the bytes of the values that its statements bind.

use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering};

use jiff::Timestamp;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ToSql, Transaction};

use crate::row_key::POSITIONS;
use crate::steps::Budget;

/// A write transaction of SQLite. Dropping it without a commit rolls it back. Reads inside the
/// transaction use it as their connection.
pub(crate) struct WriteTx<'c> {
    transaction: Transaction<'c>,
    bound: &'c AtomicU64,
    budget: &'c Budget,
    /// Number of events that share one chunk row.
    pub(crate) chunk_events: u64,
    /// The number of this transaction in the feed (the sequence of changed sessions).
    pub(crate) number: u64,
    /// When the transaction began, according to the store's clock.
    pub(crate) now: Timestamp,
}

impl Deref for WriteTx<'_> {
    type Target = Connection;
    fn deref(&self) -> &Connection {
        &self.transaction
    }
}

impl<'c> WriteTx<'c> {
    pub(crate) fn new(
        transaction: Transaction<'c>,
        (bound, budget): (&'c AtomicU64, &'c Budget),
        chunk_events: u8,
        number: u64,
        now: Timestamp,
    ) -> Self {
        let chunk_events = u64::from(chunk_events).clamp(1, POSITIONS);
        Self { transaction, bound, budget, chunk_events, number, now }
    }

    /// Runs a write statement. SQLite prepares it only once per connection. Returns the number of
    /// rows that it changed.
    pub(crate) fn write(&self, sql: &str, values: &[&dyn ToSql]) -> rusqlite::Result<usize> {
        let bytes = values.iter().map(|value| stored_bytes(*value)).sum::<u64>();
        self.bound.fetch_add(bytes, Ordering::Relaxed);
        self.transaction.prepare_cached(sql)?.execute(values)
    }

    /// Begins a new part of the transaction. The part may take as many steps of SQLite as a whole
    /// operation. Without this, a transaction with many parts could exceed the number of steps that
    /// a small store permits.
    pub(crate) fn begin_part(&self) {
        self.budget.renew();
    }

    pub(crate) fn commit(self) -> rusqlite::Result<()> {
        self.transaction.commit()
    }
}

/// Returns the number of bytes that `value` occupies in a row of SQLite.
fn stored_bytes(value: &dyn ToSql) -> u64 {
    let Ok(output) = value.to_sql() else {
        return 0;
    };
    let value = match &output {
        ToSqlOutput::Borrowed(value) => *value,
        ToSqlOutput::Owned(value) => value.into(),
        _ => return 0,
    };
    match value {
        ValueRef::Null | ValueRef::Integer(0 | 1) => 0,
        ValueRef::Integer(number) => {
            let bits = 65 - u64::from(number.unsigned_abs().leading_zeros());
            match bits.div_ceil(8) {
                5 => 6,
                7.. => 8,
                bytes => bytes,
            }
        }
        ValueRef::Real(_) => 8,
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.len() as u64,
    }
}
