//! Statements that a connection has prepared, so that the server need not plan them again.
//!
//! A named statement is a part of the server's session. A pooler in transaction mode gives each
//! transaction another session, and there the same name may be another client's statement. So nothing
//! is named until the server itself has proved that nobody is in between: it knows the random number
//! of the first packet that this process sent. A pooler opens its connections with packets of its own.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use lru::LruCache;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Config, Statement};

use crate::connection::Value;

/// The setting of a session that has the random number.
const SETTING: &str = "forklore.session";
/// How many different statements are counted for a connection.
const MOST: NonZeroUsize = NonZeroUsize::new(128).unwrap();
/// How often a statement is executed on a connection before it is prepared. A program that runs for a
/// moment prepares nothing.
const USES: u32 = 3;
/// How long a statement is used. The server's plan is one for the tables as they were, and a plan for
/// small tables can read large ones from end to end. Until it is analysed, a table that grows does not
/// make the server plan anew.
const LASTS: Duration = Duration::from_secs(5);

/// Adds the random number to what a connection says first.
pub(crate) fn mark(config: &mut Config, number: &str) {
    let options = config.get_options().unwrap_or_default();
    let options = format!("{options} -c {SETTING}={number}");
    config.options(options.trim_start());
}

/// Checks whether a pooler refused the first packet because of its number.
pub(crate) fn is_of_pooler(error: &tokio_postgres::Error) -> bool {
    error.as_db_error().is_some_and(|refused| {
        refused.code().code() == "08P01" && refused.message().contains("options")
    })
}

/// The statements of one connection.
pub(crate) struct Prepared {
    client: Arc<Client>,
    state: Mutex<State>,
}

struct State {
    /// The random number of the first packet. It is taken when it is compared.
    number: Option<String>,
    /// Whether the server has the number.
    is_direct: bool,
    uses: LruCache<String, Use>,
    /// What is to be prepared, with the types of its values.
    due: HashMap<String, Vec<Type>>,
}

#[derive(Default)]
struct Use {
    times: u32,
    /// The statement, and when it was prepared.
    prepared: Option<(Statement, Instant)>,
}

impl Prepared {
    /// Begins with nothing. Without the random number of the first packet, nothing is ever prepared.
    pub(crate) fn new(client: Arc<Client>, number: Option<String>) -> Self {
        let (is_direct, uses, due) = (false, LruCache::new(MOST), HashMap::new());
        Self { client, state: Mutex::new(State { number, is_direct, uses, due }) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the prepared statement for a text, and counts its use.
    pub(crate) fn find(&self, sql: &str, values: &[Value<'_>]) -> Option<Statement> {
        let mut state = self.state();
        if (state.number.is_none() && !state.is_direct) || !is_planned(sql) {
            return None;
        }
        let one = state.uses.get_or_insert_mut(sql.to_owned(), Use::default);
        one.times += 1;
        let statement = one.prepared.as_ref().map(|(statement, _)| statement.clone());
        let is_fresh = one.prepared.as_ref().is_some_and(|(_, since)| since.elapsed() < LASTS);
        if one.times >= USES && !is_fresh {
            let types = values.iter().map(|(_, kind)| kind.clone()).collect();
            state.due.insert(sql.to_owned(), types);
        }
        statement
    }

    /// Prepares the statements that are used often. The connection must not be inside a transaction,
    /// which would end if one of them cannot be prepared. Returns `None` if there is nothing to do.
    pub(crate) fn due(&self) -> Option<impl Future<Output = ()> + use<'_>> {
        let mut state = self.state();
        let (due, number) = (std::mem::take(&mut state.due), state.number.take());
        if due.is_empty() {
            state.number = number;
            return None;
        }
        drop(state);
        Some(async move {
            if let Some(number) = number {
                let is_direct = self.has_number(&number).await;
                self.state().is_direct = is_direct;
            }
            if self.state().is_direct {
                let due = due.into_iter().map(|(sql, types)| self.prepare(sql, types));
                join_all(due).await;
            }
        })
    }

    /// Checks whether the server's session has the random number.
    async fn has_number(&self, number: &str) -> bool {
        let query = "SELECT current_setting($1, true)";
        let found = self.client.query_typed(query, &[(&SETTING, Type::TEXT)]).await;
        let row = found.ok().and_then(|rows| rows.into_iter().next());
        let found = row.and_then(|row| row.try_get::<_, Option<String>>(0).ok().flatten());
        found.as_deref() == Some(number)
    }

    async fn prepare(&self, sql: String, types: Vec<Type>) {
        let Ok(statement) = self.client.prepare_typed(&sql, &types).await else { return };
        if let Some(one) = self.state().uses.get_mut(&sql) {
            one.prepared = Some((statement, Instant::now()));
        }
    }
}

/// Checks whether the server plans a statement. It does not plan `BEGIN` and `COMMIT`.
fn is_planned(sql: &str) -> bool {
    ["SELECT", "WITH", "INSERT", "UPDATE", "DELETE"].iter().any(|verb| sql.starts_with(verb))
}
