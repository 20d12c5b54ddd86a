//! The port to tools: it describes the tools and executes their calls.

pub(crate) mod call;

use std::fmt;
use std::sync::Arc;

use forklore_core::{Data, SessionId};
use futures_util::future::BoxFuture;
use serde::Serialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::Result;
use crate::delegation::{Delegate, Delegated};
use crate::notify::event::ApplicationEvent;
pub use crate::notify::event::ToolStep as Step;
pub(crate) use call::to_value;
pub use call::{ToolCall, ToolSpec};

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

/// The context in which a tool executes a call.
#[derive(Clone, Debug)]
pub struct CallContext {
    /// The session that contains the call.
    pub session: SessionId,
    /// Cancelled when the turn is interrupted. The tool should then return.
    pub cancelled: CancellationToken,
    /// Receives the tool's progress reports. A tool need not send any.
    pub progress: Progress,
    /// The session whose turn makes the call: announces events and runs sub-agents for the tool.
    pub caller: Caller,
}

/// The session whose turn makes a call, as the tool sees it. The default belongs to no session: it
/// announces nothing, and refuses to delegate.
#[derive(Clone, Default)]
pub struct Caller(Option<Arc<dyn Calling>>);

/// What a turn does for the tools that it calls.
pub(crate) trait Calling: Send + Sync {
    fn announce(&self, event: ApplicationEvent);
    fn delegate(&self, delegate: Delegate) -> BoxFuture<'_, Result<Delegated>>;
}

impl Caller {
    pub(crate) fn of(turn: impl Calling + 'static) -> Self {
        Self(Some(Arc::new(turn)))
    }

    /// Announces an event of the application, with the ids of the session.
    pub fn announce(&self, event: ApplicationEvent) {
        if let Some(turn) = &self.0 {
            turn.announce(event);
        }
    }

    /// Lets a sub-agent of the session do a task, and returns when the sub-agent ends. A tool may
    /// run several sub-agents at once. An interruption of the turn interrupts them. The session's
    /// log records the start and the end of each sub-agent, but not its result. If the model needs
    /// this result, the tool must include it in its own result.
    ///
    /// # Errors
    /// - [`Error::Ended`](crate::Error::Ended): the turn no longer waits for its tool calls. All of
    ///   them have ended, or the grace period after an interruption is over.
    /// - [`Error::NoCaller`](crate::Error::NoCaller): no turn makes the call.
    /// - Otherwise the errors of [`AgentSession::delegate`](crate::AgentSession::delegate).
    pub async fn delegate(&self, delegate: Delegate) -> Result<Delegated> {
        match &self.0 {
            Some(turn) => turn.delegate(delegate).await,
            None => Err(crate::Error::NoCaller),
        }
    }
}

impl fmt::Debug for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Caller(turn)" } else { "Caller(nobody)" })
    }
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
