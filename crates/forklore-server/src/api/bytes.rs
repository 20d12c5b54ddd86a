//! Bytes between a connection, which is asynchronous, and a call of the engine, which blocks. A few
//! pieces are in memory at a time.

use std::io::{self, Read, Write};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;
use tokio_stream::StreamExt as _;
use tokio_stream::wrappers::ReceiverStream;

use crate::problem::Problem;
use crate::service::Service;

/// How many pieces wait.
const PIECES: usize = 4;
/// How long a client may take for the next piece. Until then it holds a thread and one of the calls that
/// run at once.
pub(super) const STALLED: Duration = Duration::from_secs(30);
/// How many bytes are collected before they are sent.
const PIECE: usize = 64 << 10;

/// Reads the body of a request.
pub(crate) struct Upload {
    pieces: mpsc::Receiver<io::Result<Bytes>>,
    rest: Bytes,
}

impl Upload {
    /// Begins to receive the body of a request.
    pub(crate) fn of(request: Request) -> Self {
        let (sender, pieces) = mpsc::channel(PIECES);
        tokio::spawn(async move {
            let mut body = request.into_body().into_data_stream();
            let stalled = || io::Error::from(io::ErrorKind::TimedOut);
            loop {
                let piece = match timeout(STALLED, body.next()).await {
                    Ok(None) => return,
                    Ok(Some(piece)) => piece.map_err(io::Error::other),
                    Err(_) => Err(stalled()),
                };
                let is_last = piece.is_err();
                // The call has ended, so nobody wants the rest.
                if sender.send(piece).await.is_err() || is_last {
                    return;
                }
            }
        });
        Self { pieces, rest: Bytes::new() }
    }
}

impl Read for Upload {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.rest.is_empty() {
            match self.pieces.blocking_recv() {
                Some(piece) => self.rest = piece?,
                None => return Ok(0),
            }
        }
        let piece = self.rest.split_to(into.len().min(self.rest.len()));
        (&*piece).read(into)
    }
}

/// Sends what a call of the engine writes as the body of an answer.
struct Download {
    pieces: mpsc::Sender<io::Result<Bytes>>,
    waiting: Vec<u8>,
    /// Sent as soon as the first bytes are written: the call will have an answer.
    begun: Option<oneshot::Sender<()>>,
}

impl Write for Download {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.waiting.extend_from_slice(bytes);
        if self.waiting.len() >= PIECE {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if let Some(begun) = self.begun.take() {
            let _ = begun.send(());
        }
        if self.waiting.is_empty() {
            return Ok(());
        }
        let piece = Bytes::from(std::mem::take(&mut self.waiting));
        let sending = timeout(STALLED, self.pieces.send(Ok(piece)));
        match Handle::current().block_on(sending) {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(io::ErrorKind::BrokenPipe.into()),
            Err(_) => Err(io::ErrorKind::TimedOut.into()),
        }
    }
}

/// Returns the body that a call of the engine writes. An error before the first bytes is the answer; a
/// later one breaks the connection off, so that nobody takes a part for the whole.
pub(super) async fn download(
    service: Service,
    call: impl FnOnce(&forklore::Engine, &mut dyn Write) -> Result<(), forklore::Error> + Send + 'static,
) -> Result<Body, Problem> {
    let (pieces, receiver) = mpsc::channel(PIECES);
    let (begun, has_begun) = oneshot::channel();
    let errors = pieces.clone();
    let calling = tokio::spawn(async move {
        let done = service.call(move |engine| {
            let mut out = Download { pieces, waiting: Vec::new(), begun: Some(begun) };
            call(engine, &mut out)?;
            out.flush().map_err(|source| forklore::Error::io("sending an answer", source))
        });
        let done = done.await;
        if let Err(problem) = &done {
            let _ = errors.send(Err(io::Error::other(problem.detail.clone()))).await;
        }
        done
    });
    if has_begun.await.is_err() {
        // The call ended without a byte.
        let ended = calling.await;
        ended.map_err(|_| Problem::new(forklore_core::ErrorKind::Internal, "the call ended"))??;
        return Ok(Body::empty());
    }
    Ok(Body::from_stream(ReceiverStream::new(receiver)))
}
