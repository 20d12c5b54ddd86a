//! The connections: how many there may be, how long a client may take, and how they end.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1::Builder;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

/// How many connections may be open. Others wait until one ends.
const MOST: usize = 20_000;
/// How long a client may take to send the head of a request.
const HEAD: Duration = Duration::from_secs(10);
/// How long requests may take after the server was told to stop.
const LEAVE: Duration = Duration::from_secs(10);
/// The pause after the system refused a connection, for example because there are too many files.
const PAUSE: Duration = Duration::from_millis(100);

/// Accepts connections and answers their requests until `stop` is ready.
pub(crate) async fn serve(listener: TcpListener, router: Router, stop: impl Future<Output = ()>) {
    let graceful = GracefulShutdown::new();
    let permits = Arc::new(Semaphore::new(MOST));
    let mut builder = Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEAD);
    tokio::pin!(stop);
    loop {
        let accepted = async {
            let permit = Arc::clone(&permits).acquire_owned().await;
            (listener.accept().await, permit)
        };
        let (accepted, permit) = tokio::select! {
            accepted = accepted => accepted,
            () = &mut stop => break,
        };
        let Ok((stream, _)) = accepted else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        let _ = stream.set_nodelay(true);
        let service = TowerToHyperService::new(router.clone());
        let answering = builder.serve_connection(TokioIo::new(stream), service);
        let answering = graceful.watch(answering);
        tokio::spawn(async move {
            // A client that breaks off is no error of the server.
            let _ = answering.await;
            drop(permit);
        });
    }
    drop(listener);
    let _ = tokio::time::timeout(LEAVE, graceful.shutdown()).await;
}
