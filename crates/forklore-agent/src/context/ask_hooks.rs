//! Asks the hooks, and a person if necessary, before an operation happens.

use super::Context;
use crate::approve::{Answer, Question};
use crate::hook::{HookOutcome, Operation};
use crate::notify::event::{ApprovalAnswer, ApprovalQuestion, HookFailure};
use crate::notify::{Identity, KernelEvent};
use crate::tool::ToolCall;
use crate::{Error, Result};

impl Context {
    /// Asks the hooks whether the operation `input` may happen. Asks a person too if a hook
    /// requires it.
    pub(crate) async fn ask_hooks<T: Operation>(
        &self,
        identity: &Identity,
        input: T,
    ) -> HookOutcome<T> {
        self.ask_hooks_about(identity, identity, input).await
    }

    /// Asks the hooks about an operation in the session `subject`. Announces failed hooks and
    /// questions with the ids of `announcer`.
    async fn ask_hooks_about<T: Operation>(
        &self,
        subject: &Identity,
        announcer: &Identity,
        input: T,
    ) -> HookOutcome<T> {
        let patience = self.config().settings.hook_patience;
        let mut judged = self.kernel.hooks().judge(subject, input, patience).await;
        for (hook, error) in std::mem::take(&mut judged.failed) {
            self.announce_as(announcer, hook_failed(announcer, hook, T::WHAT, error));
        }
        if judged.denied.is_some() {
            return judged;
        }
        for (hook, prompt) in std::mem::take(&mut judged.questions) {
            let call = judged.input.call().cloned();
            let is_call = call.is_some();
            let answer = self.ask_person(announcer, call, prompt).await;
            judged.person_consulted = true;
            if !is_call {
                let answer = answer.as_ref().map(Option::as_deref).map_err(String::as_str);
                self.announce_answer(announcer, None, answer);
            }
            match answer {
                Ok(note) => judged.notes.extend(note),
                Err(reason) => {
                    judged.denied = Some((hook, reason));
                    break;
                }
            }
        }
        judged
    }

    /// Notifies the listeners of a person's answer to an approval question: the optional note if
    /// the person allowed the operation, or else the reason for the denial.
    pub(crate) fn announce_answer(
        &self,
        identity: &Identity,
        call: Option<&str>,
        answer: Result<Option<&str>, &str>,
    ) {
        let answered = |reason: Option<&str>| ApprovalAnswer {
            tool_call_id: call.map(str::to_owned),
            reason: reason.map(str::to_owned),
        };
        self.announce_as(
            identity,
            match answer {
                Ok(note) => KernelEvent::ApprovalGranted(answered(note)),
                Err(reason) => KernelEvent::ApprovalDenied(answered(Some(reason))),
            },
        );
    }

    /// Asks the hooks, and a person if a hook requires it, whether the operation `input` may
    /// happen. Returns a denial as an error. Otherwise returns the input and the messages that
    /// hooks injected.
    pub(crate) async fn must_pass<T: Operation>(
        &self,
        identity: &Identity,
        input: T,
    ) -> Result<(T, Vec<String>)> {
        passed(self.ask_hooks(identity, input).await)
    }

    /// Asks the hooks whether a child may be created. `child` has the ids that the child would get.
    /// A denied child never exists, so everything is announced with the ids of `parent`.
    pub(crate) async fn child_must_pass<T: Operation>(
        &self,
        child: &Identity,
        parent: &Identity,
        input: T,
    ) -> Result<()> {
        passed(self.ask_hooks_about(child, parent, input).await).map(|_| ())
    }

    /// Asks a person for approval. Returns the optional note if the person allows the operation, or
    /// else the reason for the denial. An interruption counts as a denial. Does not announce the
    /// answer: the caller must do that. For a tool call, the caller stores the answer first.
    pub(crate) async fn ask_person(
        &self,
        identity: &Identity,
        call: Option<ToolCall>,
        prompt: String,
    ) -> Result<Option<String>, String> {
        let question = Question { session: identity.session_id.clone(), call, prompt };
        let announced = ApprovalQuestion {
            session: question.session.clone(),
            call: question.call.as_ref().map(ToolCall::to_event),
            prompt: question.prompt.clone(),
        };
        self.announce_as(identity, KernelEvent::ApprovalRequired(announced));
        let config = self.config();
        let interrupted = async {
            match self.cancel_token() {
                Some(cancel) => cancel.cancelled().await,
                None => std::future::pending().await,
            }
        };
        let answer = tokio::select! {
            biased;
            () = interrupted => return Err("the turn was interrupted".into()),
            answer = config.approve.approve(&question) => answer,
        };
        match answer {
            Answer::Granted(note) => Ok(note),
            Answer::Denied(reason) => Err(reason.unwrap_or_else(|| "the person said no".into())),
        }
    }
}

fn passed<T: Operation>(judged: HookOutcome<T>) -> Result<(T, Vec<String>)> {
    match judged.denied {
        Some((by, reason)) => Err(Error::Denied { what: T::WHAT, by, reason }),
        None => Ok((judged.input, judged.injected)),
    }
}

/// Logs that a hook failed and was skipped, and returns the event that reports this. `what` names
/// the data that the hook received, for example `the prompt`.
pub(super) fn hook_failed(
    identity: &Identity,
    hook: String,
    what: &str,
    error: String,
) -> KernelEvent {
    let session = &identity.session_id;
    tracing::warn!(%session, %hook, gate = what, "a hook failed and was skipped");
    KernelEvent::HookError(HookFailure { hook, gate: what.to_owned(), error })
}
