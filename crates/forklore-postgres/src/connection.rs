//! A connection to the database, with calls that wait.
//!
//! Behind a pooler, no statement is named, so it may give every transaction another connection of the
//! server. See [`prepared`](crate::prepared).

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use futures_util::future::join_all;
use tokio_postgres::error::DbError;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Row};

use crate::driver::Driver;
use crate::fault::{Fault, Result};
use crate::prepared::Prepared;

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

/// A statement with its values.
pub(crate) struct Statement<'a> {
    pub(crate) sql: Cow<'a, str>,
    pub(crate) values: Vec<Value<'a>>,
}

impl<'a> Statement<'a> {
    pub(crate) fn new(sql: impl Into<Cow<'a, str>>, values: Vec<Value<'a>>) -> Self {
        Self { sql: sql.into(), values }
    }
}

/// Why a transaction was not committed.
#[derive(Debug)]
pub(crate) struct Failed {
    pub(crate) fault: Fault,
    /// Whether it may be committed all the same, because the answer got lost.
    pub(crate) is_unknown: bool,
}

impl From<Fault> for Failed {
    fn from(fault: Fault) -> Self {
        Self { fault, is_unknown: false }
    }
}

pub(crate) struct Connection {
    pub(crate) client: Arc<Client>,
    pub(crate) prepared: Prepared,
    pub(crate) driver: Arc<Driver>,
    /// When the call that borrowed this connection must end.
    pub(crate) until: Instant,
    /// How often the server gave up its wait for a standby; see [`is_cancelled_wait`].
    pub(crate) cancelled: Arc<AtomicU64>,
}

/// Checks whether a message of the server says that a transaction is committed on it, and perhaps
/// on no standby: somebody, or a timeout, ended the wait. The server answers `COMMIT` all the same.
pub(crate) fn is_cancelled_wait(notice: &DbError) -> bool {
    // The message itself depends on the server's language.
    notice.routine() == Some("SyncRepWaitForLSN")
}

impl Connection {
    /// Waits for an answer, at most until the end of the call.
    fn wait<T, E: Into<Fault>>(
        &self,
        future: impl Future<Output = std::result::Result<T, E>>,
    ) -> Result<T> {
        let left = self.until.saturating_duration_since(Instant::now());
        self.driver.wait(left, future)
    }

    /// Sends a statement, by its name if the server has prepared it.
    async fn query(
        &self,
        sql: &str,
        values: &[Value<'_>],
    ) -> std::result::Result<Vec<Row>, tokio_postgres::Error> {
        match self.prepared.find(sql, values) {
            None => self.client.query_typed(sql, values).await,
            Some(statement) => {
                let values: Vec<_> = values.iter().map(|(value, _)| *value).collect();
                self.client.query(&statement, &values).await
            }
        }
    }

    /// Prepares what this connection executes often. It must not be inside a transaction.
    pub(crate) fn prepare(&self) {
        if let Some(due) = self.prepared.due() {
            // If this fails, the statements are executed as they are.
            let _ = self.wait(async {
                due.await;
                Ok::<_, Fault>(())
            });
        }
    }

    /// Executes a statement in one round trip and returns its rows.
    pub(crate) fn rows(&self, sql: &str, values: &[Value<'_>]) -> Result<Vec<Row>> {
        self.wait(self.query(sql, values))
    }

    /// Executes a statement that returns at most one row.
    pub(crate) fn row(&self, sql: &str, values: &[Value<'_>]) -> Result<Option<Row>> {
        Ok(self.rows(sql, values)?.into_iter().next())
    }

    /// Executes a statement and returns the number of rows that it changed.
    pub(crate) fn execute(&self, sql: &str, values: &[Value<'_>]) -> Result<u64> {
        self.wait(self.client.execute_typed(sql, values))
    }

    /// Executes statements without values.
    pub(crate) fn batch(&self, sql: &str) -> Result<()> {
        self.wait(self.client.batch_execute(sql))
    }

    /// Executes statements in order, in one round trip, and returns the rows of each. In a
    /// transaction, none has an effect after one that failed.
    pub(crate) fn all(&self, statements: &[Statement<'_>]) -> Result<Vec<Vec<Row>>> {
        self.send(statements).map_err(|(_, fault)| fault)
    }

    /// Executes the last statements of a transaction and commits it, in one round trip.
    pub(crate) fn commit(&self, mut statements: Vec<Statement<'_>>) -> Result<(), Failed> {
        statements.push(Statement::new("COMMIT", Vec::new()));
        self.committing(&statements).map(drop)
    }

    /// Executes a statement that is a transaction of its own, in one round trip, and returns its rows.
    pub(crate) fn commit_one(&self, statement: Statement<'_>) -> Result<Vec<Row>, Failed> {
        self.committing(&[statement])
    }

    /// Sends statements of which the last one commits. Returns the rows of the last one.
    fn committing(&self, statements: &[Statement<'_>]) -> Result<Vec<Row>, Failed> {
        let last = statements.len().saturating_sub(1);
        let cancelled = self.cancelled.load(Ordering::SeqCst);
        match self.send(statements) {
            Ok(_) if self.cancelled.load(Ordering::SeqCst) != cancelled => {
                Err(Failed { fault: Fault::OnlyHere, is_unknown: true })
            }
            Ok(mut results) => Ok(results.pop().unwrap_or_default()),
            Err((at, fault)) => {
                // If the database itself refused a statement, it did not commit.
                let is_refused = (at < last && fault.is_of_database()) || fault.is_of_standby();
                Err(Failed { is_unknown: fault.is_of_connection() && !is_refused, fault })
            }
        }
    }

    /// Sends statements in one go. Returns the rows of each, or the first failure and its statement.
    fn send(&self, statements: &[Statement<'_>]) -> Result<Vec<Vec<Row>>, (usize, Fault)> {
        let all = async {
            let sent = statements.iter();
            let sent = sent.map(|one| self.query(&one.sql, &one.values));
            Ok::<_, Fault>(join_all(sent).await)
        };
        let results = self.wait(all).map_err(|fault| (0, fault))?;
        let results = results.into_iter().enumerate();
        results.map(|(at, rows)| rows.map_err(|error| (at, Fault::from(error)))).collect()
    }
}
