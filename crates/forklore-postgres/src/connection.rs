//! A connection to the database, with calls that wait.
//!
//! No statement is named, so a pooler may give every transaction another connection of the server.

use std::sync::Arc;
use std::time::Duration;

use futures_lite::future::zip;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Row};

use crate::driver::Driver;
use crate::fault::Result;

/// Begins a transaction. Each statement sees what was committed before it began; whatever must not
/// change is locked.
pub(crate) const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE";

/// A value of a statement with its type, so that the database need not be asked for the type.
pub(crate) type Value<'a> = (&'a (dyn ToSql + Sync), Type);

pub(crate) fn text<T: ToSql + Sync>(value: &T) -> Value<'_> {
    (value, Type::TEXT)
}

pub(crate) fn number(value: &(impl ToSql + Sync)) -> Value<'_> {
    (value, Type::INT8)
}

pub(crate) fn truth(value: &(impl ToSql + Sync)) -> Value<'_> {
    (value, Type::BOOL)
}

pub(crate) fn bytes<T: ToSql + Sync>(value: &T) -> Value<'_> {
    (value, Type::BYTEA)
}

pub(crate) fn texts<T: ToSql + Sync>(value: &T) -> Value<'_> {
    (value, Type::TEXT_ARRAY)
}

pub(crate) fn numbers<T: ToSql + Sync>(value: &T) -> Value<'_> {
    (value, Type::INT8_ARRAY)
}

pub(crate) fn truths<T: ToSql + Sync>(value: &T) -> Value<'_> {
    (value, Type::BOOL_ARRAY)
}

pub(crate) struct Connection {
    pub(crate) client: Client,
    pub(crate) driver: Arc<Driver>,
    pub(crate) deadline: Duration,
}

impl Connection {
    /// Executes a statement in one round trip and returns its rows.
    pub(crate) fn rows(&self, sql: &str, values: &[Value<'_>]) -> Result<Vec<Row>> {
        self.driver.wait(self.deadline, self.client.query_typed(sql, values))
    }

    /// Executes a statement that returns at most one row.
    pub(crate) fn row(&self, sql: &str, values: &[Value<'_>]) -> Result<Option<Row>> {
        Ok(self.rows(sql, values)?.into_iter().next())
    }

    /// Executes a statement and returns the number of rows that it changed.
    pub(crate) fn execute(&self, sql: &str, values: &[Value<'_>]) -> Result<u64> {
        self.driver.wait(self.deadline, self.client.execute_typed(sql, values))
    }

    /// Executes statements without values.
    pub(crate) fn batch(&self, sql: &str) -> Result<()> {
        self.driver.wait(self.deadline, self.client.batch_execute(sql))
    }

    /// Sends statements without values and a statement with them in one go.
    pub(crate) fn batch_then_rows(
        &self,
        first: &str,
        sql: &str,
        values: &[Value<'_>],
    ) -> Result<Vec<Row>> {
        let both = async {
            let first = self.client.batch_execute(first);
            let (first, rows) = zip(first, self.client.query_typed(sql, values)).await;
            first.and(rows)
        };
        self.driver.wait(self.deadline, both)
    }
}
