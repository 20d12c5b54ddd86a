//! Parsers of the event streams of all providers.

mod anthropic;
mod error;
mod gemini;
mod openai;
mod pending_call;

use forklore_agent::model::{End, EndReason, StreamEvent};

use crate::config::Provider;
use crate::failure::one_line;

pub(crate) use error::ResponseError;

/// A parser for the events of one response.
pub(crate) enum Reader {
    OpenAi(openai::Reader),
    Anthropic(anthropic::Reader),
    Gemini(gemini::Reader),
}

impl Reader {
    pub(crate) fn new(provider: Provider) -> Self {
        match provider {
            Provider::OpenAi | Provider::Ollama => Self::OpenAi(openai::Reader::default()),
            Provider::Anthropic => Self::Anthropic(anthropic::Reader::default()),
            Provider::Gemini => Self::Gemini(gemini::Reader::default()),
        }
    }

    /// Parses one event of the server, and pushes the stream events that it completes to `pieces`.
    /// Returns whether the server's event was the last one of the response.
    pub(crate) fn read(
        &mut self,
        event: &str,
        pieces: &mut Vec<StreamEvent>,
    ) -> Result<bool, ResponseError> {
        match self {
            Self::OpenAi(reader) => reader.read(event, pieces),
            Self::Anthropic(reader) => reader.read(event, pieces),
            Self::Gemini(reader) => reader.read(event, pieces).map(|()| false),
        }
    }

    /// Ends the response: pushes the remaining stream events to `pieces` and returns the reason and
    /// the usage at the end.
    pub(crate) fn end(&mut self, pieces: &mut Vec<StreamEvent>) -> Result<End, ResponseError> {
        let mut end = match self {
            Self::OpenAi(reader) => reader.end(pieces),
            Self::Anthropic(reader) => reader.end(),
            Self::Gemini(reader) => reader.end(pieces),
        }?;
        // The request id and the reason go into the log and onto a screen, so their length is
        // limited.
        end.request_id = end.request_id.filter(|id| id.len() <= MAX_ID_LENGTH);
        if let EndReason::Other(reason) = &mut end.reason {
            *reason = one_line(reason);
        }
        Ok(end)
    }
}

/// The maximum length of a request id that is stored, in bytes.
const MAX_ID_LENGTH: usize = 256;
