//! The port to tools: what may be called, and the calls.

use forklore_model::{Data, SessionId};
use futures_util::future::BoxFuture;
use serde::Serialize;
use tokio_util::sync::CancellationToken;

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

/// A tool as the model is told of it.
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

/// For whom a call is carried out.
#[derive(Clone, Debug)]
pub struct CallContext {
    /// The session in which the call stands.
    pub session: SessionId,
    /// Told to stop when the turn is interrupted.
    pub cancelled: CancellationToken,
}

/// What came of a call.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ToolOutcome {
    /// What the tool says: a text, or a list of parts.
    pub content: Data,
    /// Whether it failed.
    pub is_error: bool,
}
