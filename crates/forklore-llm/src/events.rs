//! The events of an answer, none of them longer than one may be.

use bytes::Bytes;
use forklore_agent::model::ModelErrorKind;
use futures_util::stream::{BoxStream, Stream, StreamExt as _};
use reqwest::Response;
use sse_stream::{Error, Sse, SseStream};

use crate::http::Failed;

/// The most bytes of an answer: no model says so much, so it is something else that answers.
const MAX_RESPONSE_BYTES: usize = 256 << 20;
/// The most bytes of one event. Some servers say all of an answer in one.
const MAX_EVENT_BYTES: usize = 8 << 20;

/// The events of one answer.
pub(crate) type Events = BoxStream<'static, Result<Sse, Error>>;

/// The events of an answer that has begun.
pub(crate) fn of(response: Response) -> Events {
    SseStream::from_bytes_stream(bounded(response.bytes_stream())).boxed()
}

/// The bytes of an answer, ended where they are too many: before the reader of events, which holds
/// a line until its end.
fn bounded(
    bytes: impl Stream<Item = reqwest::Result<Bytes>> + Send + 'static,
) -> impl Stream<Item = Result<Bytes, Cut>> + Send + 'static {
    let mut measure = Measure::default();
    bytes.filter_map(move |chunk| {
        let chunk = match chunk {
            // The reader of events expects something in each.
            Ok(chunk) if chunk.is_empty() => None,
            Ok(chunk) => Some(measure.take(&chunk).map(|()| chunk)),
            Err(error) => Some(Err(Cut::Lost(error.without_url()))),
        };
        std::future::ready(chunk)
    })
}

/// How much of an answer has come.
#[derive(Default)]
struct Measure {
    answer: usize,
    /// The bytes of the event that has not ended.
    event: usize,
    /// The bytes of the line that has not ended.
    line: usize,
    /// Whether a line has just ended with CR: LF then belongs to that end.
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

/// Why no more bytes of an answer come.
#[derive(Debug, thiserror::Error)]
enum Cut {
    #[error("the connection was lost")]
    Lost(#[source] reqwest::Error),
    #[error("the answer is longer than {} MiB", MAX_RESPONSE_BYTES >> 20)]
    Answer,
    #[error("an event of the answer is longer than {} MiB", MAX_EVENT_BYTES >> 20)]
    Event,
}

/// What is wrong with an answer whose events cannot be read.
pub(crate) fn failed(error: Error) -> Failed {
    match error {
        Error::Body(cut) => match cut.downcast::<Cut>() {
            Ok(cut) if matches!(*cut, Cut::Lost(_)) => Failed {
                message: "the connection was lost in the middle of the answer".to_owned(),
                kind: ModelErrorKind::Unreachable,
                source: Some(cut),
            },
            Ok(cut) => Failed::new(ModelErrorKind::Malformed, cut.to_string()),
            Err(other) => Failed {
                message: "the answer could not be read".to_owned(),
                kind: ModelErrorKind::Unreachable,
                source: Some(other),
            },
        },
        other => Failed {
            message: format!("the answer is no stream of events: {other}"),
            kind: ModelErrorKind::Malformed,
            source: Some(Box::new(other)),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many bytes are accepted of this text, again and again in pieces of some length.
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
