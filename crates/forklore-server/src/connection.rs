//! The connections: how many there may be, how long a client may take, and how they end.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1::Builder;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

/// How many connections may be open. Others wait until one ends.
const MOST: usize = 20_000;
/// How long a client may take to send the head of a request, or to agree on the encryption.
const HEAD: Duration = Duration::from_secs(10);
/// How long requests may take after the server was told to stop.
const LEAVE: Duration = Duration::from_secs(10);
/// The pause after the system refused a connection, for example because there are too many files.
const PAUSE: Duration = Duration::from_millis(100);
/// What a connection that is encrypted begins with.
const HANDSHAKE: u8 = 0x16;

/// Accepts connections and answers their requests until `stop` is ready. With a `tls`, connections are
/// encrypted.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    tls: Option<TlsAcceptor>,
    stop: impl Future<Output = ()>,
) {
    let graceful = GracefulShutdown::new();
    let permits = Arc::new(Semaphore::new(MOST));
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
        let (router, tls, watcher) = (router.clone(), tls.clone(), graceful.watcher());
        tokio::spawn(async move {
            match tls {
                None => answer(stream, router, watcher).await,
                // In a box, so that the others are not as large as an encrypted one.
                Some(tls) => Box::pin(encrypted(stream, tls, router, watcher)).await,
            }
            drop(permit);
        });
    }
    drop(listener);
    let _ = timeout(LEAVE, graceful.shutdown()).await;
}

/// Answers the requests of a connection.
async fn answer<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    stream: S,
    router: Router,
    watcher: Watcher,
) {
    let mut builder = Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEAD);
    let service = TowerToHyperService::new(router);
    let answering = builder.serve_connection(TokioIo::new(stream), service);
    // A client that breaks off is no error of the server.
    let _ = watcher.watch(answering).await;
}

/// Agrees on the encryption, and answers the requests of the connection.
async fn encrypted(stream: TcpStream, tls: TlsAcceptor, router: Router, watcher: Watcher) {
    let mut first = [0];
    match timeout(HEAD, stream.peek(&mut first)).await {
        Ok(Ok(1)) if first == [HANDSHAKE] => {}
        Ok(Ok(1)) => return explain(stream).await,
        _ => return,
    }
    if let Ok(Ok(stream)) = timeout(HEAD, tls.accept(stream)).await {
        answer(stream, router, watcher).await;
    }
}

/// Tells a client that speaks plain HTTP what is wrong.
async fn explain(mut stream: TcpStream) {
    let text = "this server is encrypted: use https:// in place of http://\n";
    let answer = format!(
        "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{text}",
        text.len()
    );
    let sent = async {
        stream.write_all(answer.as_bytes()).await?;
        stream.shutdown().await?;
        // A connection that is closed with unread bytes is reset, and the answer may be lost.
        let mut rest = [0; 1024];
        while tokio::io::AsyncReadExt::read(&mut stream, &mut rest).await? > 0 {}
        std::io::Result::Ok(())
    };
    let _ = timeout(Duration::from_secs(1), sent).await;
}
