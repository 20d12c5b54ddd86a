//! Executes statements of a test, apart from the store under test.

use std::time::Duration;

use tokio::runtime::Builder;
use tokio::time::timeout;
use tokio_postgres::{NoTls, SimpleQueryMessage};

use crate::NoServer;

/// How long a program may take to answer before it counts as another one.
const ANSWER: Duration = Duration::from_millis(500);

/// Checks whether a server answers at the URL and accepts the statements.
pub(crate) fn is_accepted(url: &str, sql: &str) -> bool {
    in_thread(async {
        let answer = timeout(ANSWER, connect_and_execute(url, sql)).await;
        Ok(answer.is_ok_and(|answer| answer.is_ok()))
    })
    .unwrap_or(false)
}

/// Executes statements on a connection of their own.
pub(crate) fn execute(url: &str, sql: &str) -> Result<(), NoServer> {
    in_thread(async { Ok(connect_and_execute(url, sql).await?) })
}

/// Returns the first column of the first row of the answer to a query. A null is an empty text.
pub(crate) fn query(url: &str, sql: &str) -> Result<String, NoServer> {
    in_thread(async {
        let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
        let connection = tokio::spawn(connection);
        let rows = client.simple_query(sql).await;
        drop(client);
        let _ = connection.await;
        let first = rows?.into_iter().find_map(|message| match message {
            SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
            _ => None,
        });
        Ok(first.unwrap_or_default())
    })
}

async fn connect_and_execute(url: &str, sql: &str) -> Result<(), tokio_postgres::Error> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
    let connection = tokio::spawn(connection);
    let done = client.batch_execute(sql).await;
    drop(client);
    let _ = connection.await;
    done
}

/// Waits for the future in a thread of its own: the caller may be in an async runtime.
fn in_thread<T: Send>(
    future: impl Future<Output = Result<T, NoServer>> + Send,
) -> Result<T, NoServer> {
    std::thread::scope(|threads| {
        let thread = threads.spawn(|| {
            let runtime = Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(future)
        });
        let ended = |_| NoServer::Failed("a statement", "its thread ended".into());
        thread.join().map_err(ended)?
    })
}
