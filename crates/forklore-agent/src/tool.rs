//! The port to tools: what may be called, and the calls.

use std::fmt;
use std::sync::Arc;

use forklore_core::{Data, SessionId};
use futures_util::future::BoxFuture;
use serde::Serialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::notify::event::CalledTool;
pub use crate::notify::event::ToolStep as Step;

/// A set of tools that a turn may call. What may be called without asking is not theirs to decide.
pub trait Tools: Send + Sync {
    /// The tools there are now, always in the same order while they are the same: they are part of
    /// the bytes that a family's requests share.
    fn specs(&self) -> Vec<ToolSpec>;

    /// Carries out a call. Nothing that goes wrong with a tool ends a turn: it is an outcome.
    fn call<'a>(
        &'a self,
        call: &'a ToolCall,
        context: &'a CallContext,
    ) -> BoxFuture<'a, ToolOutcome>;
}

/// A tool as the model sees it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ToolSpec {
    /// The name by which it is called.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// The JSON schema of its arguments.
    pub parameters: Data,
}

/// A call of a tool, as the model made it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ToolCall {
    /// The call's id: unique in its session.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments, verbatim; not always what the schema asks for.
    pub arguments: Data,
}

impl ToolCall {
    /// The call as events tell it.
    pub(crate) fn to_event(&self) -> CalledTool {
        let (id, name) = (self.id.clone(), self.name.clone());
        CalledTool { id, name, arguments: to_value(&self.arguments) }
    }
}

/// For whom a call is carried out.
#[derive(Clone, Debug)]
pub struct CallContext {
    /// The session in which the call stands.
    pub session: SessionId,
    /// Told to stop when the turn is interrupted.
    pub cancelled: CancellationToken,
    /// Told how far the call is, by tools that say so.
    pub progress: Progress,
}

/// The listener of a call's progress; by default nobody.
#[derive(Clone, Default)]
pub struct Progress(Option<Arc<dyn Fn(Step) + Send + Sync>>);

impl Progress {
    /// Every step goes to `listener`, which must not wait.
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

/// What came of a call.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ToolOutcome {
    /// What the tool says: a text, or a list of parts.
    pub content: Data,
    /// Whether it failed.
    pub is_error: bool,
}

/// Nothing to call.
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
    /// A text.
    #[must_use]
    pub fn text(text: &str) -> Self {
        Self { content: text_data(text), is_error: false }
    }

    /// A failure, in words for the model.
    #[must_use]
    pub fn failed(text: &str) -> Self {
        Self { content: text_data(text), is_error: true }
    }
}

fn text_data(text: &str) -> Data {
    Data::from_checked(Value::from(text).to_string())
}

/// JSON as a tree of values, as events have it.
pub(crate) fn to_value(data: &Data) -> Value {
    data.read().unwrap_or_default()
}
