//! The rest of a body that nobody reads, because its request was answered before.
//!
//! A connection that is closed with unread bytes is reset, and a client that sends its whole request
//! before it reads then loses the answer. So the rest is received and thrown away, within limits.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Bytes;
use futures_util::StreamExt as _;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use tokio::runtime::Handle;
use tokio::time::timeout;

/// How many bytes of the rest are received.
const MOST: usize = 64 << 20;
/// How long the rest may take.
const LONGEST: Duration = Duration::from_secs(10);
/// How long a client may send nothing of the rest.
const IDLE: Duration = Duration::from_secs(1);

/// A body whose rest is received when it is dropped before its end.
pub(super) struct Drained(Option<Incoming>);

impl Drained {
    /// Wraps the body of a request. With `waits`, its client sends nothing before it is asked to
    /// (`Expect: 100-continue`), and asking for what nobody reads would be wrong.
    pub(super) fn over(body: Incoming, waits: bool) -> axum::body::Body {
        match waits {
            true => axum::body::Body::new(body),
            false => axum::body::Body::new(Self(Some(body))),
        }
    }
}

impl Body for Drained {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        match &mut self.0 {
            Some(body) => Pin::new(body).poll_frame(cx),
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.0.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.0.as_ref().map_or_else(|| SizeHint::with_exact(0), Body::size_hint)
    }
}

impl Drop for Drained {
    fn drop(&mut self) {
        let Some(body) = self.0.take().filter(|body| !body.is_end_stream()) else { return };
        // Without a runtime the server has ended, and its connections too.
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(timeout(LONGEST, drain(body)));
        }
    }
}

/// Receives a body until its end, an error, a pause or the limit.
async fn drain(body: Incoming) {
    let (mut received, mut pieces) = (0, axum::body::Body::new(body).into_data_stream());
    while let Ok(Some(Ok(piece))) = timeout(IDLE, pieces.next()).await {
        received += piece.len();
        if received > MOST {
            return;
        }
    }
}
