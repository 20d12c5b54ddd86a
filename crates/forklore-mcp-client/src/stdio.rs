//! Connects to servers that run as child processes and communicate over standard input and output.

mod filter;
mod process;

use std::io::{self, Cursor};

use futures_util::stream;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::{RoleClient, transport::Transport};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio_util::io::StreamReader;

use crate::stderr_tail::StderrTail;
use filter::Filter;
pub(crate) use process::{Process, Spawned};

/// The maximum length of one frame (a JSON-RPC message on one line), in bytes. A longer frame
/// becomes an error of the call that the frame answers.
const FRAME: usize = 16 << 20;

/// The maximum length of one string in a frame, in bytes, such as an image as base64. A longer
/// string is truncated.
const STRING: usize = 12 << 20;

/// Returns the transport over the pipes of a child process. `tail` receives all output that is not
/// a frame (a JSON-RPC message).
pub(crate) fn transport(
    spawned: Spawned,
    tail: &StderrTail,
) -> impl Transport<RoleClient> + 'static {
    let Spawned { stdin, stdout, .. } = spawned;
    let frames = StreamReader::new(Box::pin(filtered(stdout, tail.clone())));
    AsyncRwTransport::new_client(frames, stdin).with_max_line_length(FRAME)
}

/// Returns a stream of the frames in the child's standard output. A filter limits their length. All
/// other output goes to `tail`.
fn filtered(
    stdout: impl AsyncRead + Unpin + Send,
    tail: StderrTail,
) -> impl futures_util::Stream<Item = io::Result<Cursor<Vec<u8>>>> + Send {
    let state = (stdout, Filter::new(FRAME, STRING), vec![0_u8; 64 << 10], tail);
    stream::try_unfold(state, |(mut stdout, mut filter, mut buffer, tail)| async move {
        loop {
            let len = stdout.read(&mut buffer).await?;
            if len == 0 {
                return Ok(None);
            }
            let mut out = Vec::new();
            let mut noise = Vec::new();
            filter.push(buffer.get(..len).unwrap_or_default(), &mut out, &mut noise);
            tail.push(&noise);
            if !out.is_empty() {
                return Ok(Some((Cursor::new(out), (stdout, filter, buffer, tail))));
            }
        }
    })
}
