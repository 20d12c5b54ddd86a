//! Bytes between a connection, which is asynchronous, and a call of the engine, which blocks. A few
//! pieces are in memory at a time.

use std::io::{self, Seek as _, Write};
use std::mem;
use std::time::Duration;

use axum::body::{Body, BodyDataStream, Bytes};
use axum::extract::Request;
use axum::http::StatusCode;
use forklore_core::ErrorKind;
use tempfile::SpooledTempFile;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};
use tokio::task::spawn_blocking;
use tokio::time::timeout;
use tokio_stream::StreamExt as _;
use tokio_stream::wrappers::ReceiverStream;

use crate::problem::Problem;
use crate::service::Service;

/// How many pieces wait.
const PIECES: usize = 4;
/// How long a client may take for the next piece. Whoever reads an answer holds a thread and one of the
/// calls that run at once until then.
pub(super) const STALLED: Duration = Duration::from_secs(30);
/// How many bytes are collected before they are sent.
const PIECE: usize = 64 << 10;

/// How many bytes of an upload are in memory, before the rest goes into a file.
const IN_MEMORY: usize = 1 << 20;

/// Receives the body of a request for a call that reads it, up to `most` bytes and one more. The call
/// begins when everything is there, so that a slow client holds no thread and none of the calls that
/// run at once.
pub(crate) async fn receive(
    service: &Service,
    request: Request,
    most: u64,
) -> Result<SpooledTempFile, Problem> {
    let file = SpooledTempFile::new_in(IN_MEMORY, &service.state);
    let (mut file, _) = receive_into(request, file, most).await?;
    file.rewind().map_err(failed)?;
    Ok(file)
}

/// Receives the body of a request. Returns how many bytes it has: more than `most` if there are more, of
/// which only one is received.
pub(super) async fn receive_into<W: Write + Send + 'static>(
    request: Request,
    mut into: W,
    most: u64,
) -> Result<(W, u64), Problem> {
    let mut body = request.into_body().into_data_stream();
    let (mut waiting, mut length) = (Vec::new(), 0);
    loop {
        let piece = next_piece(&mut body).await?;
        let is_last = piece.is_none() || length > most;
        let piece = piece.unwrap_or_default();
        let left = usize::try_from(most + 1 - length.min(most + 1)).unwrap_or(usize::MAX);
        let piece = piece.get(..left).unwrap_or(&piece);
        length += piece.len() as u64;
        waiting.extend_from_slice(piece);
        if is_last {
            into.write_all(&waiting).map_err(failed)?;
            return Ok((into, length));
        }
        if waiting.len() >= PIECE {
            let bytes = mem::take(&mut waiting);
            let written = spawn_blocking(move || into.write_all(&bytes).map(|()| into));
            into = written.await.map_err(io::Error::other).flatten().map_err(failed)?;
        }
    }
}

/// Returns the next piece of a body. A client that sends nothing for a while is refused.
pub(super) async fn next_piece(body: &mut BodyDataStream) -> Result<Option<Bytes>, Problem> {
    let Ok(piece) = timeout(STALLED, body.next()).await else {
        let detail = "the rest of the body did not come";
        let status = StatusCode::REQUEST_TIMEOUT;
        return Err(Problem::with_status(status, ErrorKind::InvalidArgs, detail)
            .or_try("send it again; nothing of it was stored"));
    };
    let broke_off = |error| Problem::invalid(format!("the body broke off: {error}"));
    piece.transpose().map_err(broke_off)
}

fn failed(source: io::Error) -> Problem {
    forklore::Error::io("receiving a request", source).into()
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
        let piece = Bytes::from(mem::take(&mut self.waiting));
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
