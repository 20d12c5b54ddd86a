//! Hooks: code of the application that is asked before things happen.
//!
//! They are asked in the order of their priority, each with what the one before it made of the
//! matter. A hook that fails, panics or hangs is reported (`hook:error`) and passed over.

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

    /// Its place: lower ones are asked first.
    fn priority(&self) -> i32 {
        0
    }

    /// Whether it wants to be asked about moments of this sort.
    fn wants(&self, gate: Gate) -> bool;

    /// What is to become of the matter.
    ///
    /// # Errors
    /// When the hook does not work; it is then passed over.
    fn ask<'a>(&'a self, moment: &'a Moment<'a>) -> BoxFuture<'a, Result<Verdict, HookFailed>>;
}

/// What is wrong with a hook, in its words.
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
    pub matter: Matter<'a>,
}

/// What is about to happen.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Matter<'a> {
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

impl Matter<'_> {
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

/// What a hook says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Go on.
    Continue,
    /// Go on with this instead; what it is, [`Matter`] says.
    Modify(Data),
    /// Do not, and why.
    Deny(String),
    /// Go on, and tell the model this as well: it is written as an injected message.
    Inject(String),
    /// Ask the person first.
    Ask(String),
}

/// What the hooks made of a matter.
#[derive(Debug)]
pub(crate) struct Judged<'a> {
    pub(crate) matter: Matter<'a>,
    pub(crate) injected: Vec<String>,
    /// Questions for the person, each with the hook that asks.
    pub(crate) questions: Vec<(String, String)>,
    /// Whether a person was asked.
    pub(crate) asked: bool,
    /// The hook that said no, and why.
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
        matter: Matter<'a>,
        patience: Duration,
    ) -> Judged<'a> {
        let gate = matter.gate();
        let mut judged = Judged {
            matter,
            injected: Vec::new(),
            questions: Vec::new(),
            asked: false,
            denied: None,
            failed: Vec::new(),
        };
        for hook in self.0.iter().filter(|hook| hook.wants(gate)) {
            let name = || hook.name().to_owned();
            match ask(&**hook, session, &judged.matter, patience).await {
                Ok(Verdict::Continue) => {}
                Ok(Verdict::Modify(data)) => judged.matter.modify(&data),
                Ok(Verdict::Inject(text)) => judged.injected.push(text),
                Ok(Verdict::Ask(question)) => judged.questions.push((name(), question)),
                Ok(Verdict::Deny(reason)) => {
                    judged.denied = Some((name(), reason));
                    break;
                }
                Err(failed) => judged.failed.push((name(), failed)),
            }
        }
        judged
    }
}

async fn ask(
    hook: &dyn Hook,
    session: &Identity,
    matter: &Matter<'_>,
    patience: Duration,
) -> Result<Verdict, String> {
    let moment = Moment { session, matter: matter.clone() };
    let asked = async { hook.ask(&moment).await };
    match tokio::time::timeout(patience, AssertUnwindSafe(asked).catch_unwind()).await {
        Ok(Ok(Ok(verdict))) => Ok(verdict),
        Ok(Ok(Err(failed))) => Err(failed.0),
        Ok(Err(panic)) => Err(format!("it panicked: {}", crate::panic::panic_text(&*panic))),
        Err(_) => Err(format!("it did not answer within {patience:?}")),
    }
}
