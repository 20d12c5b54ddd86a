//! Executes statements of a test, apart from the store under test.

use tokio::runtime::Builder;
use tokio_postgres::NoTls;

use crate::NoServer;

/// Executes statements on a connection of their own, in a thread of their own: the caller may be in
/// an async runtime.
pub(crate) fn execute(url: &str, sql: &str) -> Result<(), NoServer> {
    std::thread::scope(|threads| {
        let thread = threads.spawn(|| {
            let runtime = Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(async {
                let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
                let connection = tokio::spawn(connection);
                let done = client.batch_execute(sql).await;
                drop(client);
                let _ = connection.await;
                Ok(done?)
            })
        });
        let ended = |_| NoServer::Failed("a statement", "its thread ended".into());
        thread.join().map_err(ended)?
    })
}
