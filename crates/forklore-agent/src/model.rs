//! The port to language models: a request goes out, a stream of answer pieces comes back
//! (docs/semantics.md, Model requests).

use std::time::Duration;

pub use forklore_api::ModelName;
use forklore_core::{Data, Message};
use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;

use crate::media::{Attached, Capabilities};
pub use crate::notify::event::{EndReason, TokenUsage};
use crate::tool::{ToolCall, ToolSpec};

/// A model that answers requests. Implementations do not retry; the turn loop does.
pub trait Model: Send + Sync {
    /// Returns the provider and the name of the model.
    fn name(&self) -> &ModelName;

    /// Returns the limit of a request and its answer together, in tokens, if known.
    fn context_window(&self) -> Option<u64>;

    /// Returns which attachments a request to it may carry; none by default. The kernel reads the
    /// bytes of those attachments into [`Request::attached`].
    fn takes(&self) -> Capabilities {
        Capabilities::default()
    }

    /// Checks whether the model can be called at all, without sending anything. The kernel calls
    /// this before it creates a session or stores a prompt, so that a missing API key is reported
    /// first.
    ///
    /// # Errors
    /// What the user must provide first.
    fn ready(&self) -> ModelResult<()> {
        Ok(())
    }

    /// Sends a request and returns the answer as a stream of pieces. Dropping the stream cancels
    /// the request.
    ///
    /// # Errors
    /// If the request was not accepted. A later failure is an item of the stream, which then ends.
    fn stream<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, ModelResult<AnswerStream<'a>>>;

    /// Returns the body that [`stream`](Self::stream) would send, byte for byte, without sending
    /// it.
    ///
    /// # Errors
    /// If the request cannot be encoded in the provider's format.
    fn body(&self, request: &Request) -> ModelResult<Vec<u8>>;
}

/// The pieces of an answer, in order. A complete answer ends with [`StreamEvent::End`]. The kernel
/// stops reading when an answer exceeds its [limits](crate::limits).
pub type AnswerStream<'a> = BoxStream<'a, ModelResult<StreamEvent>>;

/// The result of a model call.
pub type ModelResult<T> = Result<T, ModelError>;

/// A request to a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The history as the model sees it: `inspect` of the session, then what this turn added.
    pub messages: Vec<Message>,
    /// The attachments that the messages reference, as far as the model accepts them.
    pub attached: Attached,
    /// Number of leading messages that the session shares with its parent.
    pub shared: usize,
    /// The same number for each fork on the path from the root, oldest first. A provider that
    /// caches up to marked positions gets its marks there, and they are the same in parent and
    /// child.
    pub forks: Vec<usize>,
    /// The tools that the model may call.
    pub tools: Vec<ToolSpec>,
    /// The prompt-cache key, the same for all sessions of a family: derived from the root's id, at
    /// most 96 bytes.
    pub cache_key: String,
    /// Generation parameters.
    pub options: Options,
}

/// Generation parameters of a request. `None` leaves a value to the provider.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// Maximum length of the answer, in tokens.
    pub max_output_tokens: Option<u32>,
    /// The sampling temperature.
    pub temperature: Option<f64>,
    /// Whether the model must call a tool.
    pub must_call: bool,
    /// Maximum time to wait for the next piece of the answer.
    pub patience: Option<Duration>,
}

/// One item of a streamed answer.
#[derive(Clone, Debug, PartialEq)]
pub enum StreamEvent {
    /// A piece of text.
    Text(String),
    /// A piece of the model's readable reasoning.
    Thinking(String),
    /// A complete block of reasoning.
    Thought {
        /// The complete readable text of the block.
        text: String,
        /// Data that the provider requires back with the block, such as a signature.
        opaque: Option<Data>,
    },
    /// A complete tool call.
    Call(ToolCall),
    /// The usage so far, if the provider reports it before the end. It is the only usage known of
    /// an answer that breaks off.
    Usage {
        /// Tokens used since the beginning of the answer.
        usage: TokenUsage,
        /// The provider's id of the request.
        request_id: Option<String>,
    },
    /// The end of a complete answer.
    End(End),
}

/// The end of a complete answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct End {
    /// Why the answer ended.
    pub reason: EndReason,
    /// Tokens that the request and its answer used.
    pub usage: TokenUsage,
    /// The provider's id of the request.
    pub request_id: Option<String>,
}

/// An error of a model call. It contains no API keys.
#[derive(Debug, thiserror::Error)]
#[error("{provider}: {message}")]
pub struct ModelError {
    /// The provider that serves the model.
    pub provider: String,
    /// What went wrong, in one sentence.
    pub message: String,
    /// Classifies the failure by what can be done about it.
    pub kind: ModelErrorKind,
    /// The HTTP status, if the provider answered with one that reports a failure.
    pub status: Option<u16>,
    /// The underlying error.
    #[source]
    pub source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// Classifies a failed request by what can be done about it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModelErrorKind {
    /// The API key is missing or wrong. Nothing helps until the user changes it.
    Key,
    /// The model or the address does not exist.
    NotFound,
    /// The provider rejects the request itself.
    Invalid,
    /// The history exceeds the context window; compact it.
    TooLong,
    /// Retry later: after this duration, if the provider names one.
    Later(Option<Duration>),
    /// The server does not answer or the connection broke. A retry may help.
    Unreachable,
    /// No data arrived within the timeout. A retry may help.
    TimedOut,
    /// The answer is malformed.
    Malformed,
}

impl ModelErrorKind {
    /// Returns the name of the kind in snake case, for logs.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Key => "key",
            Self::NotFound => "not_found",
            Self::Invalid => "invalid",
            Self::TooLong => "too_long",
            Self::Later(_) => "later",
            Self::Unreachable => "unreachable",
            Self::TimedOut => "timed_out",
            Self::Malformed => "malformed",
        }
    }

    /// Checks whether the same request may succeed later.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::Later(_) | Self::Unreachable | Self::TimedOut)
    }
}
