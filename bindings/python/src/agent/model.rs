//! Models that are Python functions.

use std::time::Duration;

use forklore_agent::media::Attached;
use forklore_agent::model::{
    AnswerStream, End, EndReason, Model, ModelError, ModelErrorKind, ModelName, ModelResult,
    Request, StreamEvent, TokenUsage,
};
use forklore_agent::tool::ToolCall;
use forklore_bindings::Failure;
use forklore_core::{Data, ErrorKind};
use futures_util::future::BoxFuture;
use futures_util::{FutureExt, StreamExt, stream};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;

use super::reply::Running;
use crate::failure::raised;

/// A model whose answers a Python object gives.
pub(super) struct FunctionModel {
    pub(super) name: ModelName,
    pub(super) context_window: Option<u64>,
    pub(super) callables: Py<PyAny>,
}

/// Receives the pieces of an answer.
#[pyclass(frozen, module = "forklore._native")]
pub(crate) struct Pieces {
    sender: mpsc::UnboundedSender<ModelResult<StreamEvent>>,
    provider: String,
}

/// A piece of an answer, as Python code writes it.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Piece {
    Text(String),
    Thinking(String),
    Thought {
        text: String,
        #[serde(default)]
        opaque: Option<Data>,
    },
    Call {
        id: String,
        name: String,
        arguments: Data,
    },
    Usage {
        usage: TokenUsage,
        #[serde(default)]
        request_id: Option<String>,
    },
    End {
        #[serde(default)]
        reason: EndReason,
        #[serde(default)]
        usage: TokenUsage,
        #[serde(default)]
        request_id: Option<String>,
    },
}

impl From<Piece> for StreamEvent {
    fn from(piece: Piece) -> Self {
        match piece {
            Piece::Text(text) => Self::Text(text),
            Piece::Thinking(text) => Self::Thinking(text),
            Piece::Thought { text, opaque } => Self::Thought { text, opaque },
            Piece::Call { id, name, arguments } => Self::Call(ToolCall { id, name, arguments }),
            Piece::Usage { usage, request_id } => Self::Usage { usage, request_id },
            Piece::End { reason, usage, request_id } => {
                Self::End(End { reason, usage, request_id })
            }
        }
    }
}

#[pymethods]
impl Pieces {
    /// Adds a piece. Returns whether more pieces are wanted.
    fn put(&self, piece: &str) -> PyResult<bool> {
        let piece: Piece = serde_json::from_str(piece).map_err(|error| {
            raised(Failure {
                kind: ErrorKind::InvalidArgs,
                message: format!("no piece of an answer: {error}"),
                details: serde_json::json!({}),
                next_actions: Vec::new(),
            })
        })?;
        Ok(self.sender.send(Ok(piece.into())).is_ok())
    }

    /// Ends the answer with a failure of this kind. `retry_after` is in seconds.
    #[pyo3(signature = (kind, message, exception, retry_after=None))]
    fn fail(
        &self,
        kind: &str,
        message: String,
        exception: &Bound<'_, PyAny>,
        retry_after: Option<f64>,
    ) {
        let wait = retry_after.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let error = ModelError {
            provider: self.provider.clone(),
            message,
            kind: kind_of(kind, wait),
            status: None,
            source: Some(Box::new(PyErr::from_value(exception.clone()))),
        };
        // Nobody waits for the answer if the turn was interrupted.
        let _ = self.sender.send(Err(error));
    }
}

fn kind_of(name: &str, wait: Option<Duration>) -> ModelErrorKind {
    match name {
        "key" => ModelErrorKind::Key,
        "not_found" => ModelErrorKind::NotFound,
        "invalid" => ModelErrorKind::Invalid,
        "too_long" => ModelErrorKind::TooLong,
        "later" => ModelErrorKind::Later(wait),
        "unreachable" => ModelErrorKind::Unreachable,
        "timed_out" => ModelErrorKind::TimedOut,
        _ => ModelErrorKind::Malformed,
    }
}

impl Model for FunctionModel {
    fn name(&self) -> &ModelName {
        &self.name
    }

    fn context_window(&self) -> Option<u64> {
        self.context_window
    }

    fn stream<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, ModelResult<AnswerStream<'a>>> {
        async move {
            let payload = self.payload(request)?;
            let (sender, receiver) = mpsc::unbounded_channel();
            let pieces = Pieces { sender, provider: self.name.provider.clone() };
            let running = Running::begin(&self.callables, "model", |py| {
                let pieces = Py::new(py, pieces)?;
                PyTuple::new(
                    py,
                    [pieces.into_any(), payload.into_pyobject(py)?.into_any().unbind()],
                )
            });
            let running = running.map_err(|message| self.error(message))?;
            let next = |(mut receiver, running): (Receiver, Running)| async move {
                match receiver.recv().await {
                    Some(piece) => Some((piece, (receiver, running))),
                    None => {
                        running.ended();
                        None
                    }
                }
            };
            Ok(stream::unfold((receiver, running), next).boxed())
        }
        .boxed()
    }

    fn body(&self, request: &Request) -> ModelResult<Vec<u8>> {
        self.payload(request).map(String::into_bytes)
    }
}

type Receiver = mpsc::UnboundedReceiver<ModelResult<StreamEvent>>;

impl FunctionModel {
    fn payload(&self, request: &Request) -> ModelResult<String> {
        payload(request).map_err(|error| self.error(error.to_string()))
    }

    fn error(&self, message: String) -> ModelError {
        ModelError {
            provider: self.name.provider.clone(),
            message,
            kind: ModelErrorKind::Malformed,
            status: None,
            source: None,
        }
    }
}

/// Returns a request as JSON.
///
/// # Errors
/// If the request has no form in JSON.
pub(super) fn payload(request: &Request) -> serde_json::Result<String> {
    #[derive(Serialize)]
    struct Options {
        #[serde(skip_serializing_if = "Option::is_none")]
        max_output_tokens: Option<u32>,
        #[serde(skip_serializing_if = "Option::is_none")]
        temperature: Option<f64>,
        must_call: bool,
    }
    #[derive(Serialize)]
    struct Payload<'a> {
        messages: &'a [forklore_core::Message],
        tools: &'a [forklore_agent::tool::ToolSpec],
        shared: usize,
        forks: &'a [usize],
        cache_key: &'a str,
        options: Options,
    }
    // A Python model gets the names of attachments: `Model::takes` promises it no bytes.
    let Request { messages, attached, shared, forks, tools, cache_key, options } = request;
    let _: &Attached = attached;
    let options = Options {
        max_output_tokens: options.max_output_tokens,
        temperature: options.temperature,
        must_call: options.must_call,
    };
    serde_json::to_string(&Payload { messages, tools, shared: *shared, forks, cache_key, options })
}
