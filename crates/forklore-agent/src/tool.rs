//! The port to tools: their descriptions and their calls.

use std::fmt;
use std::sync::Arc;

use forklore_core::{Data, SessionId};
use futures_util::future::BoxFuture;
use serde::Serialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::notify::event::CalledTool;
pub use crate::notify::event::ToolStep as Step;

/// A set of tools that a turn may call. Permissions are decided elsewhere.
pub trait Tools: Send + Sync {
    /// Returns the tools available now. The order must stay the same while the set is the same,
    /// because the tools are part of the bytes that a family's requests share.
    fn specs(&self) -> Vec<ToolSpec>;

    /// Executes a call. A tool's failure is an outcome and never ends the turn.
    fn call<'a>(
        &'a self,
        call: &'a ToolCall,
        context: &'a CallContext,
    ) -> BoxFuture<'a, ToolOutcome>;
}

/// A tool as the model sees it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ToolSpec {
    /// The name by which the model calls it.
    pub name: String,
    /// A description for the model.
    pub description: String,
    /// The JSON schema of its arguments.
    pub parameters: Data,
}

/// A tool call, as the model made it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ToolCall {
    /// The id of the call, unique in its session.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments, verbatim. They need not match the schema.
    pub arguments: Data,
}

impl ToolCall {
    /// Returns the call as notifications report it.
    pub(crate) fn to_event(&self) -> CalledTool {
        let (id, name) = (self.id.clone(), self.name.clone());
        CalledTool { id, name, arguments: to_value(&self.arguments) }
    }
}

/// The context in which a tool call runs.
#[derive(Clone, Debug)]
pub struct CallContext {
    /// The session that contains the call.
    pub session: SessionId,
    /// Cancelled when the turn is interrupted.
    pub cancelled: CancellationToken,
    /// Receives progress reports from tools that send them.
    pub progress: Progress,
}

/// Receives a call's progress reports; the default ignores them.
#[derive(Clone, Default)]
pub struct Progress(Option<Arc<dyn Fn(Step) + Send + Sync>>);

impl Progress {
    /// Sends every report to `listener`, which must not block.
    pub fn to(listener: impl Fn(Step) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(listener)))
    }

    /// Reports a step.
    pub fn tell(&self, step: Step) {
        if let Some(listener) = &self.0 {
            listener(step);
        }
    }
}

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Progress(listener)" } else { "Progress(nobody)" })
    }
}

/// The outcome of a tool call.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ToolOutcome {
    /// The tool's result: a string, or a list of parts.
    pub content: Data,
    /// Whether the call failed.
    pub is_error: bool,
}

/// An empty set of tools.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoTools;

impl Tools for NoTools {
    fn specs(&self) -> Vec<ToolSpec> {
        Vec::new()
    }

    fn call<'a>(&'a self, call: &'a ToolCall, _: &'a CallContext) -> BoxFuture<'a, ToolOutcome> {
        Box::pin(async { ToolOutcome::failed(&format!("there is no tool {}", call.name)) })
    }
}

impl ToolOutcome {
    /// Returns a successful outcome with this text.
    #[must_use]
    pub fn text(text: &str) -> Self {
        Self { content: text_data(text), is_error: false }
    }

    /// Returns a failed outcome with this text for the model.
    #[must_use]
    pub fn failed(text: &str) -> Self {
        Self { content: text_data(text), is_error: true }
    }
}

fn text_data(text: &str) -> Data {
    Data::from_checked(Value::from(text).to_string())
}

/// Parses JSON into a [`Value`], as notifications contain it; null if it cannot be parsed.
pub(crate) fn to_value(data: &Data) -> Value {
    data.read().unwrap_or_default()
}
