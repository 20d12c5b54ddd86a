//! The port to whoever decides about tool calls: the user's policy, and the person.

use forklore_core::SessionId;
use futures_util::future::BoxFuture;
use serde::Serialize;

use crate::tool::ToolCall;

/// What the user's configuration says about calls. It is asked once for each call, before the call.
pub trait Policy: Send + Sync {
    /// Whether a call may be carried out.
    fn rule(&self, call: &ToolCall) -> Rule;

    /// The permission that a call needs where its session has a ceiling (SPEC 6).
    fn permission(&self, call: &ToolCall) -> String {
        call.name.clone()
    }
}

/// What a policy says about a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// It may be carried out.
    Allow,
    /// A person decides.
    Ask,
    /// It may not.
    Deny,
}

/// Asks a person.
pub trait Approve: Send + Sync {
    /// Asks whether something may be done. A turn that is interrupted drops the question.
    fn approve<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Answer>;
}

/// What a person is asked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Question {
    /// The session in which it arose.
    pub session: SessionId,
    /// The call that is asked about, where it is one.
    pub call: Option<ToolCall>,
    /// What is asked. It may hold text of a session: escape it where it is shown.
    pub prompt: String,
}

/// What a person answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// Yes; a note goes into the record, such as that it holds from now on.
    Granted(Option<String>),
    /// No, and why.
    Denied(Option<String>),
}

/// Every call may be carried out: for tests and for tools that can do no harm.
#[derive(Clone, Copy, Debug, Default)]
pub struct AllowAll;

impl Policy for AllowAll {
    fn rule(&self, _: &ToolCall) -> Rule {
        Rule::Allow
    }
}

/// Nobody is there to ask, so whatever would need an answer is denied.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nobody;

impl Approve for Nobody {
    fn approve<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Answer> {
        let why = "nobody is there to ask".to_owned();
        Box::pin(async { Answer::Denied(Some(why)) })
    }
}
