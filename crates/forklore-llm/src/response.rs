//! Parsers of the event streams of all providers.

mod anthropic;
mod gemini;
mod openai;

use forklore_agent::limits::{ARGUMENTS_BYTES, CALLS, NAME_BYTES, TooMuch};
use forklore_agent::model::{End, EndReason, StreamEvent};
use forklore_agent::tool::ToolCall;
use forklore_core::Data;
use forklore_core::data::NotJson;

use crate::config::Provider;
use crate::failure::one_line;

/// The reason why a response cannot be read, or why the server ended the response.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ResponseError {
    /// An event is not the JSON that the provider documents.
    #[error("an event of the answer is not as expected: {0}")]
    Event(#[from] serde_json::Error),
    /// The arguments of a tool call cannot be stored.
    #[error("a call's arguments: {0}")]
    Arguments(#[from] NotJson),
    /// The response exceeds a size limit, such as the maximum number of tool calls.
    #[error(transparent)]
    TooMuch(#[from] TooMuch),
    /// The server reported an error in the middle of the response. Has the JSON of the error.
    #[error("the server ended the answer: {0}")]
    Reported(String),
    /// The stream ended before the response was complete.
    #[error("the answer broke off")]
    Off,
}

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

/// Appends `more` to `so_far`. Returns the error `what` if the result would exceed `most` bytes.
fn append_bounded(
    so_far: &mut String,
    more: &str,
    most: usize,
    what: TooMuch,
) -> Result<(), ResponseError> {
    if so_far.len().saturating_add(more.len()) > most {
        return Err(what.into());
    }
    so_far.push_str(more);
    Ok(())
}

/// Checks that a response with `calls` tool calls may have one more.
fn check_call_count(calls: usize) -> Result<(), ResponseError> {
    if calls < CALLS { Ok(()) } else { Err(TooMuch::Calls.into()) }
}

/// A tool call whose fields arrive in fragments.
#[derive(Debug, Default)]
struct PendingCall {
    id: String,
    name: String,
    arguments: String,
}

impl PendingCall {
    fn add_name(&mut self, more: &str) -> Result<(), ResponseError> {
        append_bounded(&mut self.name, more, NAME_BYTES, TooMuch::Name)
    }

    /// Appends a fragment to the arguments of the call. Updates `total`, the number of argument
    /// bytes of all calls in the response.
    fn add_arguments(&mut self, more: &str, total: &mut usize) -> Result<(), ResponseError> {
        *total = total.saturating_add(more.len());
        if *total > ARGUMENTS_BYTES {
            return Err(TooMuch::Arguments.into());
        }
        self.arguments.push_str(more);
        Ok(())
    }

    /// Returns the complete call. Arguments that are not JSON become a JSON string.
    fn finish(self) -> Result<ToolCall, ResponseError> {
        let text = self.arguments.trim();
        let arguments = if text.is_empty() {
            Data::from_checked("{}")
        } else {
            Data::parse(text).or_else(|_| Data::of(text))?
        };
        Ok(ToolCall { id: self.id, name: self.name, arguments })
    }

    /// Checks whether the arguments are not valid JSON, as in a truncated response.
    fn is_truncated(&self) -> bool {
        !self.arguments.trim().is_empty() && Data::parse(self.arguments.trim()).is_err()
    }
}
