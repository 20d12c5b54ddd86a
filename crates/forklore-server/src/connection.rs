//! The connections: how many there may be, how long a client may take, and how they end.

mod lasting;
mod requests;
mod unread;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

/// How many connections may be open. Others wait until one ends.
const MOST: u32 = 20_000;
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
    let stopping = watch::Sender::new(false);
    let permits = Arc::new(Semaphore::new(MOST as usize));
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
        let (router, tls, stopping) = (router.clone(), tls.clone(), stopping.subscribe());
        tokio::spawn(async move {
            match tls {
                None => answer(stream, router, stopping).await,
                // In a box, so that the others are not as large as an encrypted one.
                Some(tls) => Box::pin(encrypted(stream, tls, router, stopping)).await,
            }
            drop(permit);
        });
    }
    drop(listener);
    stopping.send_replace(true);
    // Each connection returns its permit when it ends.
    let _ = timeout(LEAVE, permits.acquire_many(MOST)).await;
}

/// Answers the requests of a connection.
async fn answer<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    stream: S,
    router: Router,
    stopping: watch::Receiver<bool>,
) {
    // In a box that ends with the requests: a client that follows does not need what they need.
    let lasting = Box::pin(requests::answer(stream, router, stopping)).await;
    if let Some((stream, response)) = lasting {
        // A client that breaks off is no error of the server.
        let _ = lasting::send(stream, response).await;
    }
}

/// Agrees on the encryption, and answers the requests of the connection.
async fn encrypted(
    stream: TcpStream,
    tls: TlsAcceptor,
    router: Router,
    stopping: watch::Receiver<bool>,
) {
    let mut first = [0];
    match timeout(HEAD, stream.peek(&mut first)).await {
        Ok(Ok(1)) if first == [HANDSHAKE] => {}
        Ok(Ok(1)) => return explain(stream).await,
        _ => return,
    }
    if let Ok(Ok(stream)) = timeout(HEAD, tls.accept(stream)).await {
        answer(stream, router, stopping).await;
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
