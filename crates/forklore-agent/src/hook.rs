//! Hooks: code of the application that can observe, change or deny an operation before it happens.
//!
//! Hooks run in the order of their priority. Each hook receives the input as the previous hook left
//! it. A hook that fails, panics or times out is reported (`hook:error`) and skipped.

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

/// Application code that decides about operations before they happen.
pub trait Hook: Send + Sync {
    /// Returns the hook's name for notifications and records.
    fn name(&self) -> &str;

    /// Returns the hook's priority. Hooks with lower numbers run first.
    fn priority(&self) -> i32 {
        0
    }

    /// Checks whether the kernel should call this hook for operations of this kind.
    fn wants(&self, gate: Gate) -> bool;

    /// Decides whether the operation in `moment` happens, and with which data.
    ///
    /// # Errors
    /// Returns an error if the hook cannot decide. The kernel then skips the hook.
    fn ask<'a>(&'a self, moment: &'a Moment<'a>) -> BoxFuture<'a, Result<Verdict, HookFailed>>;
}

/// The reason why a hook failed, in the hook's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct HookFailed(pub String);

/// The kinds of operations that hooks decide about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Gate {
    /// A session is initialized. If the session does not exist yet, hooks run before it is created.
    Ready,
    /// A child session is about to be created.
    Fork,
    /// A prompt arrived and is not stored yet.
    Prompt,
    /// A request is about to be sent to the model.
    Request,
    /// The history is about to be compacted. A denial leaves the history unchanged.
    Compact,
    /// A tool is about to be called.
    Call,
    /// A tool has returned a result. The result is not stored yet.
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

/// An operation that hooks decide about, and the session in which it happens.
#[derive(Clone, Debug)]
pub struct Moment<'a> {
    /// The ids of the session in which the operation happens.
    pub session: &'a Identity,
    /// The operation and its data.
    pub input: HookInput<'a>,
}

/// An operation that hooks decide about, with its data.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum HookInput<'a> {
    /// The session is initialized.
    Ready {
        /// The configuration that is stored with the session.
        config: Option<&'a Data>,
    },
    /// A child session is about to be created. [`Moment::session`] has the ids of the child.
    Fork {
        /// Whether the child is a branch or a delegate.
        kind: SessionKind,
        /// The fork request; `None` for a new session with an empty context.
        fork: Option<&'a Fork>,
    },
    /// A prompt arrived. [`Verdict::Modify`] replaces the prompt's text with a JSON string.
    Prompt {
        /// The text of the prompt.
        text: String,
        /// The other parts of the prompt, such as attachments.
        parts: &'a [Part],
    },
    /// A request is about to be sent to the model.
    Request {
        /// The request to be sent.
        request: &'a Request,
    },
    /// The history is about to be compacted.
    Compact {
        /// The plan: the range to compact, and the messages in this range.
        plan: &'a CompactionPlan,
    },
    /// A tool is about to be called. [`Verdict::Modify`] replaces the call's arguments.
    Call {
        /// The call to be made.
        call: ToolCall,
    },
    /// A tool has returned a result. [`Verdict::Modify`] replaces the content of the result.
    Outcome {
        /// The call that has the result.
        call: &'a ToolCall,
        /// The result that the tool returned.
        outcome: ToolOutcome,
    },
}

impl HookInput<'_> {
    /// Returns the kind of this operation.
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

    /// Checks whether a hook may return this verdict for this operation. If not, returns the reason
    /// as the error.
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

/// The decision of one hook about one operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The operation happens unchanged.
    Continue,
    /// The operation happens with this data instead. [`HookInput`] says what the data replaces.
    /// Allowed for a prompt, a call or a result. For any other operation the hook counts as failed.
    Modify(Data),
    /// The operation does not happen, for this reason.
    Deny(String),
    /// The operation happens, and the model also receives this text as an injected message. Allowed
    /// for a prompt, a request, a call or a result. For any other operation the hook counts as
    /// failed.
    Inject(String),
    /// A person decides. The value is the question for the person.
    Ask(String),
}

/// The combined decision of all hooks about one operation.
#[derive(Debug)]
pub(crate) struct HookOutcome<'a> {
    pub(crate) input: HookInput<'a>,
    pub(crate) injected: Vec<String>,
    /// The questions that hooks put to a person. Each pair contains the hook's name and the
    /// question.
    pub(crate) questions: Vec<(String, String)>,
    /// Whether a person received a question from a hook.
    pub(crate) person_consulted: bool,
    /// The name of the hook that denied the operation, and its reason.
    pub(crate) denied: Option<(String, String)>,
    /// The hooks that failed: the name of each, and the reason.
    pub(crate) failed: Vec<(String, String)>,
}

/// The hooks, in the order in which they run.
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
            person_consulted: false,
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
