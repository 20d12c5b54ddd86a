//! The ports that decide about tool calls: the user's policy, and a person.

use forklore_core::SessionId;
use futures_util::future::BoxFuture;
use serde::Serialize;

use crate::tool::ToolCall;

/// The user's policy for tool calls. It is consulted once for each call, before the call.
pub trait Policy: Send + Sync {
    /// Returns whether a call is allowed.
    fn rule(&self, call: &ToolCall) -> Rule;

    /// Returns the permission that a call needs if its session limits permissions
    /// (docs/semantics.md, Fork).
    fn permission(&self, call: &ToolCall) -> String {
        call.name.clone()
    }
}

/// A policy's decision about a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// The call is allowed.
    Allow,
    /// A person decides.
    Ask,
    /// The call is denied.
    Deny,
}

/// Asks a person for a decision.
pub trait Approve: Send + Sync {
    /// Asks whether something is allowed. An interrupted turn drops the question.
    fn approve<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Answer>;
}

/// A question for a person.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Question {
    /// The session that asks.
    pub session: SessionId,
    /// The call that needs approval, if the question is about a call.
    pub call: Option<ToolCall>,
    /// The question. It may contain text of a session: escape it for display.
    pub prompt: String,
}

/// A person's answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// Yes. The optional note is recorded, for example that the answer applies to later calls too.
    Granted(Option<String>),
    /// No, with an optional reason.
    Denied(Option<String>),
}

/// Allows every call: for tests and for harmless tools.
#[derive(Clone, Copy, Debug, Default)]
pub struct AllowAll;

impl Policy for AllowAll {
    fn rule(&self, _: &ToolCall) -> Rule {
        Rule::Allow
    }
}

/// Denies everything that needs an answer, because no person is available.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nobody;

impl Approve for Nobody {
    fn approve<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Answer> {
        let why = "nobody is there to ask".to_owned();
        Box::pin(async { Answer::Denied(Some(why)) })
    }
}
