//! Answers that last: server-sent events. A server has thousands of them, and HTTP's buffers for the
//! requests that could follow would be most of what they cost. So they are sent without them, and are
//! the last answers of their connections.

use std::io::{self, Write as _};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderValue, Method, Request, Version, header, response::Parts};
use axum::response::Response;
use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimePrinter;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::time::timeout;
use tokio_stream::StreamExt as _;

/// How long a client may take to receive a piece.
const STALLED: Duration = Duration::from_secs(30);

/// Whether the answer to a request may be sent in pieces and end the connection.
pub(super) fn may_be_wanted<B>(request: &Request<B>) -> bool {
    request.method() == Method::GET && request.version() == Version::HTTP_11
}

/// Whether an answer lasts.
pub(super) fn is(response: &Response) -> bool {
    let kind = response.headers().get(header::CONTENT_TYPE);
    kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"))
}

/// Sends an answer, until it ends or the client goes away.
pub(super) async fn send<S: AsyncRead + AsyncWrite + Unpin>(
    mut stream: S,
    response: Response,
) -> io::Result<()> {
    let mut body = begin(&mut stream, response).await?.into_data_stream();
    loop {
        let piece = tokio::select! {
            piece = body.next() => piece,
            () = is_gone(&mut stream) => return Ok(()),
        };
        match piece {
            Some(piece) => {
                let piece = piece.map_err(io::Error::other)?;
                timeout(STALLED, chunk(&mut stream, &piece)).await??;
            }
            None => break,
        }
    }
    stream.write_all(b"0\r\n\r\n").await?;
    stream.shutdown().await
}

/// Sends the head of an answer, and returns its body.
async fn begin<S: AsyncWrite + Unpin>(stream: &mut S, response: Response) -> io::Result<Body> {
    let (mut parts, body) = response.into_parts();
    let headers = &mut parts.headers;
    headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    headers.insert(header::TRANSFER_ENCODING, HeaderValue::from_static("chunked"));
    let date = DateTimePrinter::new().timestamp_to_rfc9110_string(&Timestamp::now());
    let date = date.ok().and_then(|date| HeaderValue::from_str(&date).ok());
    headers.extend(date.map(|date| (header::DATE, date)).into_iter().collect::<HeaderMap>());
    stream.write_all(&written(&parts)?).await?;
    stream.flush().await?;
    Ok(body)
}

fn written(parts: &Parts) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    write!(head, "HTTP/1.1 {}\r\n", parts.status)?;
    for (name, value) in &parts.headers {
        write!(head, "{name}: ")?;
        head.extend_from_slice(value.as_bytes());
        head.extend_from_slice(b"\r\n");
    }
    head.extend_from_slice(b"\r\n");
    Ok(head)
}

/// Sends a piece of the body. An empty one would end it.
async fn chunk<S: AsyncWrite + Unpin>(stream: &mut S, piece: &Bytes) -> io::Result<()> {
    if piece.is_empty() {
        return Ok(());
    }
    let mut bytes = Vec::with_capacity(piece.len() + 12);
    write!(bytes, "{:x}\r\n", piece.len())?;
    bytes.extend_from_slice(piece);
    bytes.extend_from_slice(b"\r\n");
    stream.write_all(&bytes).await?;
    stream.flush().await
}

/// Waits until the client closes its side. Whatever else it sends is no request any more.
async fn is_gone<S: AsyncRead + Unpin>(stream: &mut S) {
    let mut ignored = [0; 64];
    while stream.read(&mut ignored).await.is_ok_and(|bytes| bytes > 0) {}
}
