//! The port to models: a request goes out, pieces of an answer come back (SPEC 15).

use std::time::Duration;

use forklore_core::{Data, Message};
use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use serde::Serialize;

use crate::media::{Attached, Capabilities};
pub use crate::notify::event::{EndReason, TokenUsage};
use crate::tool::{ToolCall, ToolSpec};

/// A model that answers requests. Implementations retry nothing: the turn loop does.
pub trait Model: Send + Sync {
    /// Which one it is.
    fn name(&self) -> &ModelName;

    /// How many tokens a request and its answer may have, where known.
    fn context_window(&self) -> Option<u64>;

    /// What a request to it may carry besides text; nothing by default. The kernel reads the bytes
    /// of such attachments into [`Request::attached`].
    fn takes(&self) -> Capabilities {
        Capabilities::default()
    }

    /// Whether it can be asked at all. The kernel calls this before it makes a session or stores a
    /// prompt, so that a missing key is reported first. Sends nothing.
    ///
    /// # Errors
    /// What the person has to bring first.
    fn ready(&self) -> ModelResult<()> {
        Ok(())
    }

    /// Sends a request; the answer comes in pieces. Dropping the stream ends the request.
    ///
    /// # Errors
    /// When the request was not accepted; what goes wrong later comes as an item of the stream,
    /// which then ends.
    fn stream<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, ModelResult<AnswerStream<'a>>>;

    /// The body that [`stream`](Self::stream) would send, byte for byte, without sending it.
    ///
    /// # Errors
    /// When the request cannot be written in the provider's form.
    fn body(&self, request: &Request) -> ModelResult<Vec<u8>>;
}

/// The pieces of an answer, in order; [`StreamEvent::End`] is the last of a whole one. What is more than
/// [an answer may be](crate::limits) is not listened to.
pub type AnswerStream<'a> = BoxStream<'a, ModelResult<StreamEvent>>;

/// The result of asking a model.
pub type ModelResult<T> = Result<T, ModelError>;

/// Which model answers: reasoning is sent only to the one that wrote it (SPEC 15).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ModelName {
    /// Who serves it, such as `anthropic`.
    pub provider: String,
    /// Its name there.
    pub model: String,
}

/// What a model is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The history as the model sees it: `inspect` of the session, then what this turn adds.
    pub messages: Vec<Message>,
    /// The attachments that the messages name, as far as the model takes them.
    pub attached: Attached,
    /// How many of the first messages the session shares with its parent.
    pub shared: usize,
    /// The same for each fork on the way from the root, the oldest first: a provider that caches
    /// up to marked places gets marks there, and the same ones in parent and child.
    pub forks: Vec<usize>,
    /// The tools that may be called.
    pub tools: Vec<ToolSpec>,
    /// The same for all sessions of a family: made from the root's id, at most 96 bytes.
    pub cache_key: String,
    /// How the answer is to be.
    pub options: Options,
}

/// How an answer is to be; none leaves it to the provider.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// The most tokens of the answer.
    pub max_output_tokens: Option<u32>,
    /// How free the choice of words is.
    pub temperature: Option<f64>,
    /// Whether a tool must be called.
    pub must_call: bool,
    /// How long to wait for the next piece.
    pub patience: Option<Duration>,
}

/// A part of an answer, as it is streamed.
#[derive(Clone, Debug, PartialEq)]
pub enum StreamEvent {
    /// More text.
    Text(String),
    /// More of what the model thinks aloud.
    Thinking(String),
    /// A block of reasoning is whole; `opaque` is what its provider wants back with it.
    Thought {
        /// The readable part, whole.
        text: String,
        /// What the provider wants back, such as a signature.
        opaque: Option<Data>,
    },
    /// A call is whole.
    Call(ToolCall),
    /// What the answer takes so far, where the provider says it before the end: all that is known
    /// of one that is broken off.
    Usage {
        /// What it takes, counted from its beginning.
        usage: TokenUsage,
        /// The provider's name for the request.
        request_id: Option<String>,
    },
    /// The answer is whole.
    End(End),
}

/// How an answer ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct End {
    /// Why.
    pub reason: EndReason,
    /// What it took.
    pub usage: TokenUsage,
    /// The provider's name for the request.
    pub request_id: Option<String>,
}

/// Why a model did not answer. Says nothing of keys.
#[derive(Debug, thiserror::Error)]
#[error("{provider}: {message}")]
pub struct ModelError {
    /// Who serves the model.
    pub provider: String,
    /// What went wrong, in a sentence.
    pub message: String,
    /// What can be done about it.
    pub kind: ModelErrorKind,
    /// What lies behind it.
    #[source]
    pub source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// What can be done about a failed request.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModelErrorKind {
    /// The key is missing or wrong: nothing, until the person changes it.
    Key,
    /// The model or the address does not exist.
    NotFound,
    /// The request itself is not accepted.
    Invalid,
    /// The history does not fit: compact it.
    TooLong,
    /// Later, after this time where the provider says so.
    Later(Option<Duration>),
    /// Nobody answers there, or no more: perhaps later.
    Unreachable,
    /// Nothing came in time: perhaps later.
    TimedOut,
    /// The answer makes no sense.
    Malformed,
}

impl ModelErrorKind {
    /// Whether the same request may do better later.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::Later(_) | Self::Unreachable | Self::TimedOut)
    }
}
