//! The port to tools: it describes the tools and executes their calls.

use std::fmt;
use std::sync::Arc;

use forklore_core::{Data, SessionId};
use futures_util::future::BoxFuture;
use serde::Serialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::notify::event::CalledTool;
pub use crate::notify::event::ToolStep as Step;

/// A set of tools that a turn may call. An implementation need not check permissions: the kernel
/// does.
pub trait Tools: Send + Sync {
    /// Returns the specifications of the tools that are available now. Return the same order as
    /// long as the set is the same. A provider's cache recognizes a later request only if it begins
    /// with the same bytes, and the tools are part of these bytes.
    fn specs(&self) -> Vec<ToolSpec>;

    /// Executes a call. If the tool fails, returns a failed outcome, which does not end the turn.
    fn call<'a>(
        &'a self,
        call: &'a ToolCall,
        context: &'a CallContext,
    ) -> BoxFuture<'a, ToolOutcome>;
}

/// The description of a tool that the model receives.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ToolSpec {
    /// The name with which the model calls the tool.
    pub name: String,
    /// What the tool does, in words for the model.
    pub description: String,
    /// The JSON schema of the tool's arguments.
    pub parameters: Data,
}

/// A tool call, as the model wrote it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ToolCall {
    /// The id of the call, unique in the answer that contains it.
    pub id: String,
    /// The name of the called tool.
    pub name: String,
    /// The arguments, verbatim. They may not match the tool's schema.
    pub arguments: Data,
}

impl ToolCall {
    /// Returns the call in the form in which notifications report it.
    pub(crate) fn to_event(&self) -> CalledTool {
        let (id, name) = (self.id.clone(), self.name.clone());
        CalledTool { id, name, arguments: to_value(&self.arguments) }
    }
}

/// The context in which a tool executes a call.
#[derive(Clone, Debug)]
pub struct CallContext {
    /// The session that contains the call.
    pub session: SessionId,
    /// Cancelled when the turn is interrupted. The tool should then return.
    pub cancelled: CancellationToken,
    /// Receives the tool's progress reports. A tool need not send any.
    pub progress: Progress,
}

/// Receives the progress reports of a call. The default ignores the reports.
#[derive(Clone, Default)]
pub struct Progress(Option<Arc<dyn Fn(Step) + Send + Sync>>);

impl Progress {
    /// Sends every report to `listener`, which must not block.
    pub fn to(listener: impl Fn(Step) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(listener)))
    }

    /// Reports one step of the call's progress.
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

/// The outcome of a tool call: the tool's result, and whether the call failed.
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
    /// Returns a successful outcome with `text` as its content.
    #[must_use]
    pub fn text(text: &str) -> Self {
        Self { content: text_data(text), is_error: false }
    }

    /// Returns a failed outcome with `text` as its content, which the model receives.
    #[must_use]
    pub fn failed(text: &str) -> Self {
        Self { content: text_data(text), is_error: true }
    }
}

fn text_data(text: &str) -> Data {
    Data::from_checked(Value::from(text).to_string())
}

/// Converts JSON to a [`Value`] for a notification. Invalid JSON becomes null.
pub(crate) fn to_value(data: &Data) -> Value {
    data.read().unwrap_or_default()
}
