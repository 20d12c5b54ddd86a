//! Hooks: code of the application that is asked before things happen.
//!
//! They are asked in the order of their priority. Each gets the input as the one before it left it.
//! A hook that fails, panics or hangs is reported (`hook:error`) and passed over.

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

/// Asked before things happen.
pub trait Hook: Send + Sync {
    /// Its name, for reports and records.
    fn name(&self) -> &str;

    /// Its priority: lower numbers are asked first.
    fn priority(&self) -> i32 {
        0
    }

    /// Whether it wants to be asked about moments of this sort.
    fn wants(&self, gate: Gate) -> bool;

    /// Decides what is to happen.
    ///
    /// # Errors
    /// When the hook does not work; it is then passed over.
    fn ask<'a>(&'a self, moment: &'a Moment<'a>) -> BoxFuture<'a, Result<Verdict, HookFailed>>;
}

/// Why a hook failed, in its own words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct HookFailed(pub String);

/// The sorts of moments at which hooks are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Gate {
    /// A session is made ready; for one that does not exist yet, before it is made.
    Ready,
    /// A child is to be made.
    Fork,
    /// A prompt came in.
    Prompt,
    /// A model is to be asked.
    Request,
    /// The history is to be compacted; a no leaves it as it is.
    Compact,
    /// A tool is to be called.
    Call,
    /// A tool has answered; the answer is not stored yet.
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

/// A moment, and the session in which it comes.
#[derive(Clone, Debug)]
pub struct Moment<'a> {
    /// The session.
    pub session: &'a Identity,
    /// What is about to happen.
    pub input: HookInput<'a>,
}

/// What is about to happen.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum HookInput<'a> {
    /// The session is made ready.
    Ready {
        /// Its configuration.
        config: Option<&'a Data>,
    },
    /// A child is to be made; the session is the child.
    Fork {
        /// A branch or a delegate.
        kind: SessionKind,
        /// How, where it is not a fresh session of the application.
        fork: Option<&'a Fork>,
    },
    /// A prompt came in. [`Verdict::Modify`] gives another text, as a JSON string.
    Prompt {
        /// Its text.
        text: String,
        /// What goes along with it.
        parts: &'a [Part],
    },
    /// A model is to be asked.
    Request {
        /// What it is to be asked.
        request: &'a Request,
    },
    /// The history is to be compacted.
    Compact {
        /// What of it.
        plan: &'a CompactionPlan,
    },
    /// A tool is to be called. [`Verdict::Modify`] gives other arguments.
    Call {
        /// The call.
        call: ToolCall,
    },
    /// A tool has answered. [`Verdict::Modify`] gives another content.
    Outcome {
        /// The call.
        call: &'a ToolCall,
        /// What it came to.
        outcome: ToolOutcome,
    },
}

impl HookInput<'_> {
    /// The sort of moment.
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

    /// Whether something can be done with a verdict here; if not, why.
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

/// The answer of a hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Go on.
    Continue,
    /// Go on with this instead, at a prompt, a call or a result; [`HookInput`] says what it is.
    /// Elsewhere the hook counts as failed.
    Modify(Data),
    /// Do not, and why.
    Deny(String),
    /// Go on, and send the model this as well, as an injected message: at a prompt, a request, a
    /// call or a result. Elsewhere the hook counts as failed.
    Inject(String),
    /// Ask the person first.
    Ask(String),
}

/// What the hooks made of their input.
#[derive(Debug)]
pub(crate) struct HookOutcome<'a> {
    pub(crate) input: HookInput<'a>,
    pub(crate) injected: Vec<String>,
    /// Questions for the person, each with the hook that asks.
    pub(crate) questions: Vec<(String, String)>,
    /// Whether a person was asked.
    pub(crate) person_approved: bool,
    /// The hook that denied it, and why.
    pub(crate) denied: Option<(String, String)>,
    /// Hooks that failed, and how.
    pub(crate) failed: Vec<(String, String)>,
}

/// Hooks in the order in which they are asked.
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
