//! The requests of a connection, until one is answered by a stream that lasts.

use std::convert::Infallible;
use std::future::{pending, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use axum::Router;
use axum::http::header::EXPECT;
use axum::response::Response;
use hyper::body::Incoming;
use hyper::server::conn::http1::Builder;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::watch;
use tower::ServiceExt as _;

use super::unread::Drained;
use super::{HEAD, lasting};

/// Answers requests until the client has no more or the server stops. When an answer lasts, returns it
/// with the connection, on which everything before it was sent.
pub(super) async fn answer<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    stream: S,
    router: Router,
    mut stopping: watch::Receiver<bool>,
) -> Option<(S, Response)> {
    let slot = Arc::new(Mutex::new(None));
    let found = Arc::clone(&slot);
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        let (router, slot) = (router.clone(), Arc::clone(&slot));
        async move {
            let may_last = lasting::may_be_wanted(&request);
            let waits = request.headers().contains_key(EXPECT);
            let request = request.map(|body| Drained::over(body, waits));
            let response = match router.oneshot(request).await {
                Ok(response) => response,
                Err(never) => match never {},
            };
            if !may_last || !lasting::is(&response) {
                return Ok::<_, Infallible>(response);
            }
            *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(response);
            pending().await
        }
    });
    let mut builder = Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEAD);
    let stream = Outgoing { stream, is_blocked: Arc::default() };
    let is_blocked = Arc::clone(&stream.is_blocked);
    let mut connection = builder.serve_connection(TokioIo::new(stream), service);
    let mut stop = pin!(stopping.wait_for(|stopping| *stopping));
    let mut is_stopping = false;
    let response = poll_fn(|cx| {
        if !is_stopping && stop.as_mut().poll(cx).is_ready() {
            is_stopping = true;
            Pin::new(&mut connection).graceful_shutdown();
        }
        // A client that breaks off is no error of the server.
        if Pin::new(&mut connection).poll(cx).is_ready() {
            return Poll::Ready(None);
        }
        let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
        // An earlier answer may not be sent yet.
        match found.take_if(|_| !is_blocked.load(Ordering::Relaxed)) {
            Some(response) => Poll::Ready(Some(response)),
            None => Poll::Pending,
        }
    });
    let response = response.await?;
    Some((connection.into_parts().io.into_inner().stream, response))
}

/// A connection that says whether the last bytes that were to be sent had to wait.
struct Outgoing<S> {
    stream: S,
    is_blocked: Arc<AtomicBool>,
}

impl<S> Outgoing<S> {
    fn seen<T>(&self, written: Poll<T>) -> Poll<T> {
        self.is_blocked.store(written.is_pending(), Ordering::Relaxed);
        written
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Outgoing<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, into)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Outgoing<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.seen(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, pieces);
        self.seen(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(cx);
        self.seen(flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
