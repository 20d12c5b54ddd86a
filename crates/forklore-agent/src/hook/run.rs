//! Asks the hooks of a kernel, one after the other, and tells them about events.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;

use super::operation::{Operation, Text};
use super::{Hook, Moment, Reaction, Verdict};
use crate::notify::{Identity, Notification};
use crate::panic::panic_text;

/// The combined decision of all hooks about one operation.
#[derive(Debug)]
pub(crate) struct HookOutcome<T> {
    pub(crate) input: T,
    pub(crate) injected: Vec<String>,
    /// The questions that hooks put to a person. Each pair contains the hook's name and the
    /// question.
    pub(crate) questions: Vec<(String, String)>,
    /// Whether a person received a question from a hook.
    pub(crate) person_consulted: bool,
    /// The notes of a person who answered questions of hooks and allowed the operation.
    pub(crate) notes: Vec<String>,
    /// The name of a hook and the reason for the denial; `None` if the operation was not denied.
    /// The hook denied the operation, or a person denied it after the hook had asked.
    pub(crate) denied: Option<(String, String)>,
    /// The hooks that failed: the name of each, and the reason.
    pub(crate) failed: Vec<(String, String)>,
}

/// The hooks, in the order in which they run.
#[derive(Clone, Default)]
pub(crate) struct Hooks(Vec<Arc<dyn Hook>>);

/// The answers of all hooks to one event.
#[derive(Debug, Default)]
pub(crate) struct Reactions {
    pub(crate) injected: Vec<String>,
    /// The hooks that panicked: the name of each, and the panic message.
    pub(crate) failed: Vec<(String, String)>,
}

impl Hooks {
    pub(crate) fn add(&mut self, hook: Arc<dyn Hook>) {
        let at = self.0.partition_point(|there| there.priority() <= hook.priority());
        self.0.insert(at, hook);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) async fn judge<T: Operation>(
        &self,
        session: &Identity,
        input: T,
        patience: Duration,
    ) -> HookOutcome<T> {
        let mut outcome = HookOutcome {
            input,
            injected: Vec::new(),
            questions: Vec::new(),
            person_consulted: false,
            notes: Vec::new(),
            denied: None,
            failed: Vec::new(),
        };
        for hook in &self.0 {
            let name = || hook.name().to_owned();
            match ask(&**hook, session, &outcome.input, patience).await {
                Ok(Verdict::Continue) => {}
                Ok(Verdict::Modify(change)) => outcome.input.modify(change),
                Ok(Verdict::Inject(text)) => outcome.injected.push(text.into_text()),
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

    /// Tells all hooks about an event.
    pub(crate) fn tell(&self, notification: &Notification) -> Reactions {
        let mut reactions = Reactions::default();
        for hook in &self.0 {
            match catch_unwind(AssertUnwindSafe(|| hook.event(notification))) {
                Ok(Reaction::Continue) => {}
                Ok(Reaction::Inject(text)) => reactions.injected.push(text),
                Err(panic) => {
                    let why = format!("it panicked: {}", panic_text(&*panic));
                    reactions.failed.push((hook.name().to_owned(), why));
                }
            }
        }
        reactions
    }
}

async fn ask<T: Operation>(
    hook: &dyn Hook,
    session: &Identity,
    input: &T,
    patience: Duration,
) -> Result<Verdict<T::Change, T::Message>, String> {
    let answer = async { T::ask(hook, Moment { session, input }).await };
    match tokio::time::timeout(patience, AssertUnwindSafe(answer).catch_unwind()).await {
        Ok(Ok(Ok(verdict))) => Ok(verdict),
        Ok(Ok(Err(failed))) => Err(failed.0),
        Ok(Err(panic)) => Err(format!("it panicked: {}", panic_text(&*panic))),
        Err(_) => Err(format!("it did not answer within {patience:?}")),
    }
}
