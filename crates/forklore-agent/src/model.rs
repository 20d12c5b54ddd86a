//! The port to language models. It sends a request and returns the answer as a stream of pieces
//! (docs/semantics.md, Model requests).

use std::time::Duration;

pub use forklore_api::ModelName;
use forklore_core::{Data, Message};
use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;

use crate::media::{Attached, Capabilities};
pub use crate::notify::event::{EndReason, TokenUsage};
use crate::tool::call::{ToolCall, ToolSpec};

/// A model that answers requests. Implementations do not retry: the turn loop retries.
pub trait Model: Send + Sync {
    /// Returns the provider's name and the model's name.
    fn name(&self) -> &ModelName;

    /// Returns how many tokens a request and its answer may have together, or `None` if the limit
    /// is not configured.
    fn context_window(&self) -> Option<u64>;

    /// Returns which attachments a request to this model may contain. The default is none. The
    /// kernel reads the bytes of the accepted attachments into [`Request::attached`].
    fn takes(&self) -> Capabilities {
        Capabilities::default()
    }

    /// Checks whether the model can be called at all. Sends nothing. The kernel calls this function
    /// before it creates a session or stores a prompt, so that a missing API key is reported first.
    ///
    /// # Errors
    /// Returns what the user must provide before the model can be called.
    fn ready(&self) -> ModelResult<()> {
        Ok(())
    }

    /// Returns the reason why the model takes no further request now, such as a budget that is used
    /// up. `None`, the default, means that the model takes requests. The kernel calls this function
    /// before each request. If it returns a reason, the turn ends as incomplete, and everything
    /// that was answered before stays.
    fn refusal(&self) -> Option<String> {
        None
    }

    /// Sends a request and returns the answer as a stream of pieces. Dropping the stream cancels
    /// the request.
    ///
    /// # Errors
    /// Returns an error if the provider did not accept the request. A later failure is the last
    /// item of the stream.
    fn stream<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, ModelResult<AnswerStream<'a>>>;

    /// Returns the request body that [`stream`](Self::stream) would send, byte for byte. Sends
    /// nothing.
    ///
    /// # Errors
    /// Returns an error if the request cannot be encoded in the provider's format.
    fn body(&self, request: &Request) -> ModelResult<Vec<u8>>;
}

/// The pieces of an answer, in the order in which they arrive. A complete answer ends with
/// [`StreamEvent::End`]. The kernel stops reading when an answer exceeds its
/// [limits](crate::answer_limits).
pub type AnswerStream<'a> = BoxStream<'a, ModelResult<StreamEvent>>;

/// The result of a model call: an error names the provider and what can be done about the failure.
pub type ModelResult<T> = Result<T, ModelError>;

/// A request to a model: the messages, their attachments, the tools and the parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The session's messages as the operation `inspect` returns them, followed by the messages
    /// that this turn added.
    pub messages: Vec<Message>,
    /// The attachments that the messages reference and that the model accepts.
    pub attached: Attached,
    /// Number of leading messages that the session inherited from its parent.
    pub shared: usize,
    /// For each fork between the root and this session, the number of leading messages that the
    /// child of the fork inherited; the oldest fork is first. Requests of parent and child begin
    /// with these messages. For providers that cache a request up to marked positions, a mark is
    /// set after them.
    pub forks: Vec<usize>,
    /// The tools that the model may call.
    pub tools: Vec<ToolSpec>,
    /// The prompt-cache key, at most 96 bytes. It is derived from the id of the root session. All
    /// sessions with this root therefore have the same key.
    pub cache_key: String,
    /// The generation parameters, such as the temperature.
    pub options: Options,
}

/// Generation parameters of a request. For `None`, the provider chooses the value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// Maximum length of the answer, in tokens.
    pub max_output_tokens: Option<u32>,
    /// The sampling temperature.
    pub temperature: Option<f64>,
    /// Whether the model must call a tool instead of answering with text.
    pub must_call: bool,
    /// Maximum time to wait for the next piece of the answer. `None` leaves this time to the
    /// implementation of [`Model`].
    pub patience: Option<Duration>,
}

/// One piece of a streamed answer.
#[derive(Clone, Debug, PartialEq)]
pub enum StreamEvent {
    /// A piece of the answer's text.
    Text(String),
    /// A piece of the model's readable reasoning.
    Thinking(String),
    /// A complete block of reasoning. Later requests to the same model contain the block.
    Thought {
        /// The complete readable text of the block.
        text: String,
        /// Data that the provider requires back with the block, such as a signature; `None` if it
        /// requires none.
        opaque: Option<Data>,
    },
    /// A complete tool call.
    Call(ToolCall),
    /// The usage so far, if the provider reports it before the end of the answer. If an answer
    /// breaks off, this is the only usage that the kernel can record.
    Usage {
        /// Tokens used since the beginning of the answer.
        usage: TokenUsage,
        /// The id that the provider gave the request; `None` if it gave none.
        request_id: Option<String>,
    },
    /// The end of a complete answer, with its reason and its usage.
    End(End),
}

/// The reason, the usage and the request id at the end of a complete answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct End {
    /// Why the answer ended.
    pub reason: EndReason,
    /// Tokens that the request and its answer used.
    pub usage: TokenUsage,
    /// The id that the provider gave the request; `None` if it gave none.
    pub request_id: Option<String>,
}

/// Why a model call failed. The error contains no API key.
#[derive(Debug, thiserror::Error)]
#[error("{provider}: {message}")]
pub struct ModelError {
    /// The provider that serves the model.
    pub provider: String,
    /// What went wrong, in one sentence.
    pub message: String,
    /// What can be done about the failure.
    pub kind: ModelErrorKind,
    /// The HTTP status of the provider's response; `None` if no response reported the failure.
    pub status: Option<u16>,
    /// The underlying error, such as an I/O error; `None` if there is none.
    #[source]
    pub source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// Classifies a failed request by what can be done about it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModelErrorKind {
    /// The API key is missing or wrong. A retry fails until the user changes the key.
    Key,
    /// The model or the address does not exist.
    NotFound,
    /// The provider rejects the content of the request.
    Invalid,
    /// The history exceeds the context window. Compact the history.
    TooLong,
    /// The request contains reasoning that the provider has bound to another conversation. Send the
    /// request without the reasoning.
    ForeignReasoning,
    /// The provider cannot answer now, for example because it is overloaded. The value is how long
    /// to wait before a retry, if the provider says so.
    Later(Option<Duration>),
    /// The server does not answer, or the connection broke. A retry may succeed.
    Unreachable,
    /// No data arrived within the timeout. A retry may succeed.
    TimedOut,
    /// The answer is malformed, incomplete or too long.
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
            Self::ForeignReasoning => "foreign_reasoning",
            Self::Later(_) => "later",
            Self::Unreachable => "unreachable",
            Self::TimedOut => "timed_out",
            Self::Malformed => "malformed",
        }
    }

    /// Checks whether the same request may succeed if it is sent again later.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::Later(_) | Self::Unreachable | Self::TimedOut)
    }
}
