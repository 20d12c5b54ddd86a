//! Why a response cannot be read.

use forklore_agent::answer_limits::TooMuch;
use forklore_core::data::NotJson;

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
