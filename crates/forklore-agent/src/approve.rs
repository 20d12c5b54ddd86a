//! The ports that decide about tool calls: the user's policy, and a person who answers questions.

use forklore_core::SessionId;
use futures_util::future::BoxFuture;
use serde::Serialize;

use crate::tool::call::ToolCall;

/// The user's policy for tool calls. The kernel consults the policy before it executes a call.
pub trait Policy: Send + Sync {
    /// Decides whether the call is allowed, is denied, or needs a person's decision.
    fn rule(&self, call: &ToolCall) -> Rule;

    /// Returns the name of the permission that the call needs. If the session has a permission
    /// ceiling (the set of permissions that it can have) without this permission, the kernel
    /// refuses the call (docs/semantics.md, Fork). The default is the name of the tool.
    fn permission(&self, call: &ToolCall) -> String {
        call.name.clone()
    }
}

/// The policy's decision about a tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// The call is allowed.
    Allow,
    /// A person decides about the call.
    Ask,
    /// The call is denied.
    Deny,
}

/// Asks a person whether something is allowed, for example in a terminal.
pub trait Approve: Send + Sync {
    /// Asks a person whether something is allowed. If the turn is interrupted, the kernel drops the
    /// returned future.
    fn approve<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Answer>;
}

/// A question that a person must answer before an operation happens.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Question {
    /// The session that needs the answer. If the question is whether a child may be created, this
    /// is the child's parent.
    pub session: SessionId,
    /// The call that needs approval; `None` if the question is not about a call.
    pub call: Option<ToolCall>,
    /// The text to show. It may contain text of a session: escape it for display.
    pub prompt: String,
}

/// A person's answer to a [`Question`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// The person allows the operation. The optional note can state, for example, that the answer
    /// applies to later calls too. The announcement of the approval contains the note. If the
    /// operation is a call, the recorded decision contains it too.
    Granted(Option<String>),
    /// The person denies the operation, with an optional reason.
    Denied(Option<String>),
}

/// A policy that allows every call. Use it for tests and for harmless tools.
#[derive(Clone, Copy, Debug, Default)]
pub struct AllowAll;

impl Policy for AllowAll {
    fn rule(&self, _: &ToolCall) -> Rule {
        Rule::Allow
    }
}

/// Answers every question with a denial. Use it if no person is available.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nobody;

impl Approve for Nobody {
    fn approve<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Answer> {
        let why = "nobody is there to ask".to_owned();
        Box::pin(async { Answer::Denied(Some(why)) })
    }
}
