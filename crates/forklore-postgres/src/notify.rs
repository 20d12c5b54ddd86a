//! Wakes the readers of the feed that are in other processes.
//!
//! A commit does not notify by itself: PostgreSQL would let all transactions that notify end one
//! after the other. A background task does so after the commits, once for many of them. A reader
//! that hears nothing looks for itself from time to time, so a lost notification only costs time.

use std::sync::Arc;
use std::time::Duration;

use forklore_store::feed::Bell;
use tokio::sync::Notify;
use tokio_postgres::Client;

use crate::pool::{Pool, attend, open};
use crate::schema::digits;

/// How long the task pauses after a notification.
const PAUSE: Duration = Duration::from_millis(5);
/// How long a task waits before it opens a connection again.
const AGAIN: Duration = Duration::from_secs(1);

/// Returns the name of the channel of a store. It follows from the identity of the store, which only
/// its tenant can read, so nobody else can listen to it or ring on it.
fn channel(identity: &str) -> String {
    format!("forklore_{}", digits(identity))
}

/// Starts the task that notifies other processes whenever `commits` is notified.
pub(crate) fn start_notifying(pool: &Pool, identity: &str, commits: Arc<Notify>) {
    let (config, tls) = (pool.address.config.clone(), pool.tls.clone());
    let sql =
        format!("BEGIN; SET LOCAL synchronous_commit = off; NOTIFY {}; COMMIT", channel(identity));
    pool.driver.spawn(async move {
        let mut connected: Option<Client> = None;
        loop {
            commits.notified().await;
            if connected.as_ref().is_none_or(Client::is_closed) {
                let Ok((client, messages)) = open(config.clone(), tls.clone()).await else {
                    tokio::time::sleep(AGAIN).await;
                    continue;
                };
                tokio::spawn(attend(messages, Arc::default(), || {}));
                connected = Some(client);
            }
            if let Some(client) = &connected
                && client.batch_execute(&sql).await.is_err()
            {
                connected = None;
            }
            tokio::time::sleep(PAUSE).await;
        }
    });
}

/// Starts the task that rings the bell when another process has committed.
pub(crate) fn start_listening(pool: &Pool, identity: &str, bell: Arc<Bell>) {
    let Some(config) = pool.address.listener() else { return };
    let (tls, sql) = (pool.tls.clone(), format!("LISTEN {}", channel(identity)));
    pool.driver.spawn(async move {
        loop {
            if let Ok((client, messages)) = open(config.clone(), tls.clone()).await {
                let rung = Arc::clone(&bell);
                let attending = tokio::spawn(attend(messages, Arc::default(), move || rung.ring()));
                if client.batch_execute(&sql).await.is_ok() {
                    // What was committed before the connection listened was not heard.
                    bell.ring();
                    let _ = attending.await;
                }
            }
            tokio::time::sleep(AGAIN).await;
        }
    });
}
