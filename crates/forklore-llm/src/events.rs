//! Reads the server-sent events of a response, with limits on the size of an event and of the
//! response.

use bytes::Bytes;
use forklore_agent::model::ModelErrorKind;
use futures_util::stream::{BoxStream, Stream, StreamExt as _};
use reqwest::Response;
use sse_stream::{Error, Sse, SseStream};

use crate::http::Failed;

/// The maximum size of a response, in bytes. No model writes that much, so a larger response does
/// not come from a model.
const MAX_RESPONSE_BYTES: usize = 256 << 20;
/// The maximum size of one event, in bytes. Some servers send the whole response in one event.
const MAX_EVENT_BYTES: usize = 8 << 20;

/// The event stream of one response.
pub(crate) type Events = BoxStream<'static, Result<Sse, Error>>;

/// Reads the body of a response as an event stream.
pub(crate) fn of(response: Response) -> Events {
    SseStream::from_bytes_stream(bounded(response.bytes_stream())).boxed()
}

/// Ends the byte stream of a response with an error when a limit is exceeded. The limits are
/// checked before the event parser reads the bytes, because the parser buffers a line until its
/// end.
fn bounded(
    bytes: impl Stream<Item = reqwest::Result<Bytes>> + Send + 'static,
) -> impl Stream<Item = Result<Bytes, Cut>> + Send + 'static {
    let mut measure = Measure::default();
    bytes.filter_map(move |chunk| {
        let chunk = match chunk {
            // The event parser requires non-empty chunks.
            Ok(chunk) if chunk.is_empty() => None,
            Ok(chunk) => Some(measure.take(&chunk).map(|()| chunk)),
            Err(error) => Some(Err(Cut::Lost(error.without_url()))),
        };
        std::future::ready(chunk)
    })
}

/// The number of bytes of a response so far, of its current event and of its current line.
#[derive(Default)]
struct Measure {
    answer: usize,
    /// The number of bytes of the current, incomplete event.
    event: usize,
    /// The number of bytes of the current, incomplete line.
    line: usize,
    /// Whether the last byte was a CR, which ended a line. An LF right after the CR belongs to the
    /// same line end.
    after_cr: bool,
}

impl Measure {
    fn take(&mut self, chunk: &[u8]) -> Result<(), Cut> {
        self.answer += chunk.len();
        if self.answer > MAX_RESPONSE_BYTES {
            return Err(Cut::Answer);
        }
        for piece in chunk.split_inclusive(|byte| matches!(byte, b'\n' | b'\r')) {
            let is_rest = std::mem::take(&mut self.after_cr) && piece == b"\n";
            self.event += piece.len();
            if self.event > MAX_EVENT_BYTES {
                return Err(Cut::Event);
            }
            self.after_cr = piece.ends_with(b"\r");
            if is_rest {
                continue;
            }
            if !self.after_cr && !piece.ends_with(b"\n") {
                self.line += piece.len();
                continue;
            }
            // An empty line ends the event.
            if self.line == 0 && piece.len() == 1 {
                self.event = 0;
            }
            self.line = 0;
        }
        Ok(())
    }
}

/// The reason why the byte stream of a response ends early.
#[derive(Debug, thiserror::Error)]
enum Cut {
    #[error("the connection was lost")]
    Lost(#[source] reqwest::Error),
    #[error("the answer is longer than {} MiB", MAX_RESPONSE_BYTES >> 20)]
    Answer,
    #[error("an event of the answer is longer than {} MiB", MAX_EVENT_BYTES >> 20)]
    Event,
}

/// Converts an error of a response's event stream to the failure of the request.
pub(crate) fn failed(error: Error) -> Failed {
    match error {
        Error::Body(cut) => match cut.downcast::<Cut>() {
            Ok(cut) if matches!(*cut, Cut::Lost(_)) => Failed {
                source: Some(cut),
                ..Failed::new(
                    ModelErrorKind::Unreachable,
                    "the connection was lost in the middle of the answer",
                )
            },
            Ok(cut) => Failed::new(ModelErrorKind::Malformed, cut.to_string()),
            Err(other) => Failed {
                source: Some(other),
                ..Failed::new(ModelErrorKind::Unreachable, "the answer could not be read")
            },
        },
        other => {
            let message = format!("the answer is no stream of events: {other}");
            Failed {
                source: Some(Box::new(other)),
                ..Failed::new(ModelErrorKind::Malformed, message)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Passes endless repetitions of `text` to `measure`, in chunks of `piece` bytes, until
    /// `measure` refuses a chunk. Returns the number of accepted bytes and the error message.
    fn accepted(mut measure: Measure, text: &str, piece: usize) -> (usize, String) {
        let mut accepted = 0;
        let endless = text.repeat(piece);
        loop {
            for chunk in endless.as_bytes().chunks(piece) {
                if let Err(cut) = measure.take(chunk) {
                    return (accepted, cut.to_string());
                }
                accepted += chunk.len();
            }
        }
    }

    #[test]
    fn an_event_that_does_not_end_is_cut() {
        for text in ["x", "data: x\n", "data: x\r\n", "data: x\r", ": ping\n"] {
            for piece in [3, 4096] {
                let (accepted, why) = accepted(Measure::default(), text, piece);
                assert!(
                    (MAX_EVENT_BYTES - 4096..=MAX_EVENT_BYTES).contains(&accepted),
                    "{text:?}: {accepted}"
                );
                assert_eq!(why, "an event of the answer is longer than 8 MiB");
            }
        }
    }

    #[test]
    fn complete_events_are_read_until_the_answer_is_too_long() {
        let left = 2 * MAX_EVENT_BYTES;
        for text in ["data: x\n\n", "data: x\r\n\r\n", "data: x\r\r", ": ping\n\n"] {
            let measure = Measure { answer: MAX_RESPONSE_BYTES - left, ..Measure::default() };
            let (accepted, why) = accepted(measure, text, 65_537);
            assert!((left - 65_537..=left).contains(&accepted), "{text:?}: {accepted}");
            assert_eq!(why, "the answer is longer than 256 MiB");
        }
    }
}
