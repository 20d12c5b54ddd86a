//! How the answers of each kind of server are read, event by event.

mod anthropic;
mod gemini;
mod openai;

use forklore_agent::bounds::{ARGUMENTS_BYTES, CALLS, NAME_BYTES, TooMuch};
use forklore_agent::model::{End, EndReason, Piece};
use forklore_agent::tool::ToolCall;
use forklore_core::Data;
use forklore_core::data::NotJson;

use crate::config::Provider;
use crate::failure::one_line;

/// Why an answer makes no sense, or was ended by the server.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Broken {
    /// An event is not the JSON that it should be.
    #[error("an event of the answer is not as expected: {0}")]
    Event(#[from] serde_json::Error),
    /// A call's arguments cannot be kept.
    #[error("a call's arguments: {0}")]
    Arguments(#[from] NotJson),
    /// It has more than is held of an answer until its blocks are whole.
    #[error(transparent)]
    TooMuch(#[from] TooMuch),
    /// The server reports an error: the JSON that says so.
    #[error("the server ended the answer: {0}")]
    Reported(String),
    /// It ended without an end.
    #[error("the answer broke off")]
    Off,
}

/// Reads the events of one answer.
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

    /// Adds the pieces that an event completes. Returns whether it was the last.
    pub(crate) fn read(&mut self, event: &str, pieces: &mut Vec<Piece>) -> Result<bool, Broken> {
        match self {
            Self::OpenAi(reader) => reader.read(event, pieces),
            Self::Anthropic(reader) => reader.read(event, pieces),
            Self::Gemini(reader) => reader.read(event, pieces).map(|()| false),
        }
    }

    /// What is left when no more events come, and how the answer ended.
    pub(crate) fn end(&mut self, pieces: &mut Vec<Piece>) -> Result<End, Broken> {
        let mut end = match self {
            Self::OpenAi(reader) => reader.end(pieces),
            Self::Anthropic(reader) => reader.end(),
            Self::Gemini(reader) => reader.end(pieces),
        }?;
        // Both go into the log and onto a screen, and should be a word.
        end.request_id = end.request_id.filter(|id| id.len() <= MOST_NAME);
        if let EndReason::Other(reason) = &mut end.reason {
            *reason = one_line(reason);
        }
        Ok(end)
    }
}

/// The longest name of a request that is kept.
const MOST_NAME: usize = 256;

/// Adds to what is held of an answer until a block of it is whole.
fn hold(so_far: &mut String, more: &str, most: usize, what: TooMuch) -> Result<(), Broken> {
    if so_far.len().saturating_add(more.len()) > most {
        return Err(what.into());
    }
    so_far.push_str(more);
    Ok(())
}

/// Room for one more call.
fn has_room(calls: usize) -> Result<(), Broken> {
    if calls < CALLS { Ok(()) } else { Err(TooMuch::Calls.into()) }
}

/// A call that comes in pieces.
#[derive(Debug, Default)]
struct Pending {
    id: String,
    name: String,
    arguments: String,
}

impl Pending {
    fn add_name(&mut self, more: &str) -> Result<(), Broken> {
        hold(&mut self.name, more, NAME_BYTES, TooMuch::Name)
    }

    /// Adds to the arguments; `held` counts those of all calls.
    fn add_arguments(&mut self, more: &str, held: &mut usize) -> Result<(), Broken> {
        *held = held.saturating_add(more.len());
        if *held > ARGUMENTS_BYTES {
            return Err(TooMuch::Arguments.into());
        }
        self.arguments.push_str(more);
        Ok(())
    }

    /// The call. Arguments that are no JSON are kept as the text that came.
    fn whole(self) -> Result<ToolCall, Broken> {
        let text = self.arguments.trim();
        let arguments = if text.is_empty() {
            Data::from_checked("{}")
        } else {
            Data::parse(text).or_else(|_| Data::of(text))?
        };
        Ok(ToolCall { id: self.id, name: self.name, arguments })
    }

    /// Whether its arguments are no JSON: where the answer was cut off it is half a call.
    fn is_half(&self) -> bool {
        !self.arguments.trim().is_empty() && Data::parse(self.arguments.trim()).is_err()
    }
}
