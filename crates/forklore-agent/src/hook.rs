//! Hooks: code of the application that can observe, change or deny an operation before it happens.
//!
//! Hooks run in the order of their priority. Each gets the input as the previous one left it. A
//! hook that fails, panics or times out is reported (`hook:error`) and skipped.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use forklore_core::{Data, Part, SessionKind};
use forklore_engine::{CompactionPlan, Fork};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use crate::model::Request;
use crate::notify::Identity;
use crate::tool::{ToolCall, ToolOutcome};

/// Decides about operations before they happen.
pub trait Hook: Send + Sync {
    /// Returns the hook's name, for reports and records.
    fn name(&self) -> &str;

    /// Returns the hook's priority: lower numbers run first.
    fn priority(&self) -> i32 {
        0
    }

    /// Checks whether the hook wants to decide about operations of this kind.
    fn wants(&self, gate: Gate) -> bool;

    /// Decides what happens.
    ///
    /// # Errors
    /// If the hook does not work; it is then skipped.
    fn ask<'a>(&'a self, moment: &'a Moment<'a>) -> BoxFuture<'a, Result<Verdict, HookFailed>>;
}

/// Why a hook failed, in its own words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct HookFailed(pub String);

/// The kinds of operations that hooks decide about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Gate {
    /// A session is initialized. If it does not exist yet, hooks run before it is created.
    Ready,
    /// A child session is about to be created.
    Fork,
    /// A prompt arrived.
    Prompt,
    /// A request is about to be sent to the model.
    Request,
    /// The history is about to be compacted; a denial leaves it unchanged.
    Compact,
    /// A tool is about to be called.
    Call,
    /// A tool has returned a result, which is not stored yet.
    Outcome,
}

impl Gate {
    pub(crate) fn what(self) -> &'static str {
        match self {
            Self::Ready => "the session",
            Self::Fork => "the fork",
            Self::Prompt => "the prompt",
            Self::Request => "the request",
            Self::Compact => "the compaction",
            Self::Call => "the call",
            Self::Outcome => "the result",
        }
    }
}

/// An operation, and the session in which it happens.
#[derive(Clone, Debug)]
pub struct Moment<'a> {
    /// The session.
    pub session: &'a Identity,
    /// The operation.
    pub input: HookInput<'a>,
}

/// The operation that hooks decide about.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum HookInput<'a> {
    /// The session is initialized.
    Ready {
        /// The configuration stored with the session.
        config: Option<&'a Data>,
    },
    /// A child session is about to be created. The moment's session is the child.
    Fork {
        /// A branch or a delegate.
        kind: SessionKind,
        /// The fork request; `None` for a new session with an empty context.
        fork: Option<&'a Fork>,
    },
    /// A prompt arrived. [`Verdict::Modify`] replaces its text, as a JSON string.
    Prompt {
        /// Its text.
        text: String,
        /// Its other parts, such as attachments.
        parts: &'a [Part],
    },
    /// A request is about to be sent to the model.
    Request {
        /// The request.
        request: &'a Request,
    },
    /// The history is about to be compacted.
    Compact {
        /// The range that is replaced by a summary.
        plan: &'a CompactionPlan,
    },
    /// A tool is about to be called. [`Verdict::Modify`] replaces the arguments.
    Call {
        /// The call.
        call: ToolCall,
    },
    /// A tool has returned a result. [`Verdict::Modify`] replaces the content.
    Outcome {
        /// The call.
        call: &'a ToolCall,
        /// The tool's result.
        outcome: ToolOutcome,
    },
}

impl HookInput<'_> {
    /// Returns the kind of operation.
    #[must_use]
    pub fn gate(&self) -> Gate {
        match self {
            Self::Ready { .. } => Gate::Ready,
            Self::Fork { .. } => Gate::Fork,
            Self::Prompt { .. } => Gate::Prompt,
            Self::Request { .. } => Gate::Request,
            Self::Compact { .. } => Gate::Compact,
            Self::Call { .. } => Gate::Call,
            Self::Outcome { .. } => Gate::Outcome,
        }
    }

    /// Checks whether a verdict is possible here, and returns the reason if not.
    fn accepts(&self, verdict: &Verdict) -> Result<(), String> {
        let what = self.gate().what();
        match (verdict, self.gate()) {
            (Verdict::Modify(_), Gate::Ready | Gate::Fork | Gate::Request | Gate::Compact) => {
                Err(format!("a hook cannot change {what}"))
            }
            (Verdict::Inject(_), Gate::Ready | Gate::Fork | Gate::Compact) => {
                Err(format!("a hook cannot send the model a message with {what}"))
            }
            _ => Ok(()),
        }
    }

    fn modify(&mut self, data: &Data) {
        match self {
            Self::Prompt { text, .. } => {
                *text = data.read().unwrap_or_else(|_| data.get().to_owned());
            }
            Self::Call { call } => call.arguments = data.clone(),
            Self::Outcome { outcome, .. } => outcome.content = data.clone(),
            Self::Ready { .. }
            | Self::Fork { .. }
            | Self::Request { .. }
            | Self::Compact { .. } => {}
        }
    }
}

/// A hook's decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Continue.
    Continue,
    /// Continue with this data instead, for a prompt, a call or a result; [`HookInput`] says what
    /// it replaces. For any other operation the hook counts as failed.
    Modify(Data),
    /// Do not continue, for this reason.
    Deny(String),
    /// Continue, and also send the model this text as an injected message: for a prompt, a request,
    /// a call or a result. For any other operation the hook counts as failed.
    Inject(String),
    /// Ask a person first, with this question.
    Ask(String),
}

/// The combined decision of all hooks.
#[derive(Debug)]
pub(crate) struct HookOutcome<'a> {
    pub(crate) input: HookInput<'a>,
    pub(crate) injected: Vec<String>,
    /// Questions for a person, each with the name of the hook that asks.
    pub(crate) questions: Vec<(String, String)>,
    /// Whether a person was asked.
    pub(crate) person_approved: bool,
    /// The name of the hook that denied the operation, and its reason.
    pub(crate) denied: Option<(String, String)>,
    /// The names of hooks that failed, each with the reason.
    pub(crate) failed: Vec<(String, String)>,
}

/// Hooks in the order in which they run.
#[derive(Clone, Default)]
pub(crate) struct Hooks(Vec<Arc<dyn Hook>>);

impl Hooks {
    pub(crate) fn add(&mut self, hook: Arc<dyn Hook>) {
        let at = self.0.partition_point(|there| there.priority() <= hook.priority());
        self.0.insert(at, hook);
    }

    pub(crate) async fn judge<'a>(
        &self,
        session: &'a Identity,
        input: HookInput<'a>,
        patience: Duration,
    ) -> HookOutcome<'a> {
        let gate = input.gate();
        let mut outcome = HookOutcome {
            input,
            injected: Vec::new(),
            questions: Vec::new(),
            person_approved: false,
            denied: None,
            failed: Vec::new(),
        };
        for hook in self.0.iter().filter(|hook| hook.wants(gate)) {
            let name = || hook.name().to_owned();
            let answer = ask(&**hook, session, &outcome.input, patience).await;
            let accepted = answer.and_then(|verdict| {
                outcome.input.accepts(&verdict)?;
                Ok(verdict)
            });
            match accepted {
                Ok(Verdict::Continue) => {}
                Ok(Verdict::Modify(data)) => outcome.input.modify(&data),
                Ok(Verdict::Inject(text)) => outcome.injected.push(text),
                Ok(Verdict::Ask(question)) => outcome.questions.push((name(), question)),
                Ok(Verdict::Deny(reason)) => {
                    outcome.denied = Some((name(), reason));
                    break;
                }
                Err(failed) => outcome.failed.push((name(), failed)),
            }
        }
        outcome
    }
}

async fn ask(
    hook: &dyn Hook,
    session: &Identity,
    input: &HookInput<'_>,
    patience: Duration,
) -> Result<Verdict, String> {
    let moment = Moment { session, input: input.clone() };
    let answer = async { hook.ask(&moment).await };
    match tokio::time::timeout(patience, AssertUnwindSafe(answer).catch_unwind()).await {
        Ok(Ok(Ok(verdict))) => Ok(verdict),
        Ok(Ok(Err(failed))) => Err(failed.0),
        Ok(Err(panic)) => Err(format!("it panicked: {}", crate::panic::panic_text(&*panic))),
        Err(_) => Err(format!("it did not answer within {patience:?}")),
    }
}
