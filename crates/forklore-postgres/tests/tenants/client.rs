//! A client of the database that is not forklore.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, Mutex};

use futures_util::StreamExt as _;
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::{AsyncMessage, Error, NoTls, SimpleQueryMessage};

/// A connection, and everything that the server sent on it.
pub(crate) struct Client {
    runtime: Runtime,
    client: tokio_postgres::Client,
    log: Arc<Mutex<String>>,
}

impl Client {
    pub(crate) fn connect(url: &str) -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let log = Arc::new(Mutex::new(String::new()));
        let (client, mut connection) =
            runtime.block_on(tokio_postgres::connect(url, NoTls)).unwrap();
        let noted = Arc::clone(&log);
        runtime.spawn(async move {
            while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await
            {
                let text = match message {
                    AsyncMessage::Notice(notice) => format!("{notice:?}"),
                    AsyncMessage::Notification(one) => format!("notified: {one:?}"),
                    other => format!("{other:?}"),
                };
                noted.lock().unwrap().push_str(&format!("{text}\n"));
            }
        });
        Self { runtime, client, log }
    }

    /// Executes statements. Returns all that the server answers: rows, notices, notifications, and
    /// errors with their details.
    pub(crate) fn answer(&self, sql: &str) -> String {
        let rows = if sql.starts_with("COPY") && sql.contains("STDOUT") {
            self.runtime.block_on(self.copied(sql))
        } else {
            self.runtime.block_on(self.rows(sql))
        };
        let mut answer = std::mem::take(&mut *self.log.lock().unwrap());
        answer.push_str(&rows);
        answer
    }

    async fn rows(&self, sql: &str) -> String {
        let mut text = String::new();
        let stream = match self.client.simple_query_raw(sql).await {
            Ok(stream) => stream,
            Err(error) => return refusal(&error),
        };
        let mut stream = pin!(stream);
        while let Some(message) = stream.next().await {
            match message {
                Ok(SimpleQueryMessage::Row(row)) => {
                    let columns = (0..row.len()).map(|at| row.get(at).unwrap_or("NULL"));
                    text.push_str(&columns.collect::<Vec<_>>().join("|"));
                    text.push('\n');
                }
                Ok(_) => {}
                Err(error) => text.push_str(&refusal(&error)),
            }
        }
        text
    }

    async fn copied(&self, sql: &str) -> String {
        let stream = match self.client.copy_out(sql).await {
            Ok(stream) => stream,
            Err(error) => return refusal(&error),
        };
        let mut text = String::new();
        let mut stream = pin!(stream);
        while let Some(bytes) = stream.next().await {
            match bytes {
                Ok(bytes) => text.push_str(&String::from_utf8_lossy(&bytes)),
                Err(error) => text.push_str(&refusal(&error)),
            }
        }
        text
    }
}

fn refusal(error: &Error) -> String {
    format!("refused: {:?}\n", error.as_db_error())
}
