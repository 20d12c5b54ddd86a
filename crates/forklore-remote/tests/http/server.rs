//! A server on loopback for tests: the dispatcher behind a small HTTP server.

use std::convert::Infallible;
use std::io::{self, Read};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use forklore_remote::{Answer, Body, Dispatcher};
use forklore_store::Store;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Bytes, Frame, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::runtime::Runtime;
use tokio::sync::mpsc;

/// A running server. Dropping it ends its connections, also those that are in use.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    runtime: Option<Runtime>,
}

/// The token that a server wants, if it wants one.
pub(crate) type Wanted = Option<&'static str>;

impl Server {
    /// Starts a server in front of a store, on any port.
    pub(crate) fn start(store: Arc<dyn Store>) -> Self {
        Self::on(TcpListener::bind("127.0.0.1:0").unwrap(), store, None)
    }

    /// Starts a server that accepts connections from this listener.
    pub(crate) fn on(listener: TcpListener, store: Arc<dyn Store>, wanted: Wanted) -> Self {
        let address = listener.local_addr().unwrap();
        listener.set_nonblocking(true).unwrap();
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let dispatcher = Arc::new(Dispatcher::new(store));
        runtime.spawn(async move {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            loop {
                let Ok((stream, _)) = listener.accept().await else { continue };
                let _ = stream.set_nodelay(true);
                let dispatcher = Arc::clone(&dispatcher);
                let service =
                    service_fn(move |request| serve(Arc::clone(&dispatcher), request, wanted));
                let mut http = hyper::server::conn::http1::Builder::new();
                http.timer(TokioTimer::new());
                tokio::spawn(http.serve_connection(TokioIo::new(stream), service));
            }
        });
        Self { address, runtime: Some(runtime) }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_timeout(Duration::ZERO);
        }
    }
}

type Sent = BoxBody<Bytes, io::Error>;

async fn serve(
    dispatcher: Arc<Dispatcher>,
    request: Request<Incoming>,
    wanted: Wanted,
) -> Result<Response<Sent>, Infallible> {
    let shown = request.headers().get("authorization").and_then(|shown| shown.to_str().ok());
    let expected = wanted.map(|token| format!("Bearer {token}"));
    if expected.is_some() && shown != expected.as_deref() {
        return Ok(plain(401));
    }
    let Some(path) = request.uri().path().strip_prefix("/store/").map(str::to_owned) else {
        return Ok(plain(404));
    };
    let (to_body, chunks) = mpsc::channel(4);
    let mut incoming = request.into_body();
    tokio::spawn(async move {
        while let Some(frame) = incoming.frame().await {
            let chunk = frame.map_err(io::Error::other).map(Frame::into_data);
            let chunk = chunk.map(Result::unwrap_or_default);
            let is_end = chunk.is_err();
            if to_body.send(chunk).await.is_err() || is_end {
                return;
            }
        }
        // An empty chunk is the end, and a channel that is closed before is a lost connection.
        let _ = to_body.send(Ok(Bytes::new())).await;
    });
    let mut body = Chunks { chunks, rest: Bytes::new(), is_over: false };
    let answer = tokio::task::spawn_blocking(move || dispatcher.answer(&path, &mut body)).await;
    match answer {
        Ok(answer) => Ok(response(answer)),
        // A server that is killed answers nothing.
        Err(ended) if ended.is_cancelled() => std::future::pending().await,
        Err(_) => Ok(plain(500)),
    }
}

fn plain(status: u16) -> Response<Sent> {
    let body = Full::new(Bytes::from_static(b"<html>")).map_err(|never| match never {}).boxed();
    Response::builder().status(status).body(body).unwrap()
}

fn response(answer: Answer) -> Response<Sent> {
    let Answer { status, content_type, length, body } = answer;
    let mut response = Response::builder().status(status).header("content-type", content_type);
    if let Some(length) = length {
        response = response.header("content-length", length);
    }
    let body = match body {
        Body::Bytes(bytes) => Full::new(bytes.into()).map_err(|never| match never {}).boxed(),
        Body::Stream(bytes) => streamed(bytes),
    };
    response.body(body).unwrap()
}

fn streamed(mut bytes: Box<dyn Read + Send>) -> Sent {
    let (sender, mut receiver) = mpsc::channel(4);
    tokio::task::spawn_blocking(move || {
        loop {
            let mut chunk = vec![0; 64 << 10];
            let frame = match bytes.read(&mut chunk) {
                Ok(0) => return,
                Ok(read) => {
                    chunk.truncate(read);
                    Ok(Frame::data(Bytes::from(chunk)))
                }
                Err(error) => Err(error),
            };
            if sender.blocking_send(frame).is_err() {
                return;
            }
        }
    });
    StreamBody::new(futures_util::stream::poll_fn(move |context| receiver.poll_recv(context)))
        .boxed()
}

/// The body of a request, read from a thread.
struct Chunks {
    chunks: mpsc::Receiver<io::Result<Bytes>>,
    rest: Bytes,
    is_over: bool,
}

impl Read for Chunks {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.rest.is_empty() && !self.is_over {
            self.rest = self.chunks.blocking_recv().ok_or(io::ErrorKind::UnexpectedEof)??;
            self.is_over = self.rest.is_empty();
        }
        let count = self.rest.len().min(into.len());
        into[..count].copy_from_slice(&self.rest.split_to(count));
        Ok(count)
    }
}
