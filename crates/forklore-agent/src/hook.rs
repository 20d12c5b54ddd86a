//! Hooks: code of the application that can observe, change or deny an operation before it happens,
//! and that hears of every event.
//!
//! Hooks run in the order of their priority. Each hook receives the input as the previous hook left
//! it. A hook that fails, panics or times out is reported (`hook:error`) and skipped.

mod operation;
mod run;

use std::convert::Infallible;
use std::future::ready;

use forklore_core::Data;
use forklore_engine::CompactionPlan;
use futures_util::future::BoxFuture;

pub use operation::{ForkInput, PromptInput, ResultInput, SessionInput};
pub(crate) use operation::{Operation, TO_EVENTS};
pub(crate) use run::{HookOutcome, Hooks};

use crate::model::Request;
use crate::notify::{Identity, Notification};
use crate::tool::ToolCall;

/// Application code that decides about operations before they happen.
///
/// Each operation has a method. The return type of the method allows only the verdicts that have an
/// effect on the operation: for example, a hook can change a call but not a fork. The default of
/// each method is [`Verdict::Continue`].
///
/// ```
/// use forklore_agent::hook::{Decision, Hook, Moment, PromptInput, PromptVerdict, Verdict};
///
/// struct Reminder;
///
/// impl Hook for Reminder {
///     fn name(&self) -> &str {
///         "reminder"
///     }
///
///     fn prompt<'a>(&'a self, _: Moment<'a, PromptInput<'a>>) -> Decision<'a, PromptVerdict> {
///         Box::pin(async { Ok(Verdict::Inject("Answer in French.".to_owned())) })
///     }
/// }
/// ```
///
/// A verdict that has no effect on an operation does not compile:
///
/// ```compile_fail,E0308
/// use forklore_agent::hook::{Decision, ForkInput, Hook, Moment, Verdict};
///
/// struct Reminder;
///
/// impl Hook for Reminder {
///     fn name(&self) -> &str {
///         "reminder"
///     }
///
///     fn fork<'a>(&'a self, _: Moment<'a, ForkInput<'a>>) -> Decision<'a> {
///         Box::pin(async { Ok(Verdict::Inject("Answer in French.".to_owned())) })
///     }
/// }
/// ```
pub trait Hook: Send + Sync {
    /// Returns the hook's name for notifications and records.
    fn name(&self) -> &str;

    /// Returns the hook's priority. Hooks with lower numbers run first.
    fn priority(&self) -> i32 {
        0
    }

    /// Decides whether a session is initialized. If the session does not exist yet, hooks run
    /// before it is created. If the session is a new child, events about the decision have the ids
    /// of its parent.
    ///
    /// # Errors
    /// The future gives an error if the hook cannot decide. The kernel then skips the hook. This
    /// holds for every method that decides.
    fn session<'a>(&'a self, moment: Moment<'a, SessionInput<'a>>) -> Decision<'a> {
        let _ = moment;
        pass()
    }

    /// Decides whether a child session is created. [`Moment::session`] has the ids that the child
    /// would get. Events about the decision (`hook:error`, `approval:*`) have the ids of its
    /// parent.
    ///
    /// # Errors
    /// As [`session`](Self::session).
    fn fork<'a>(&'a self, moment: Moment<'a, ForkInput<'a>>) -> Decision<'a> {
        let _ = moment;
        pass()
    }

    /// Decides about a prompt that is not stored yet. [`Verdict::Modify`] replaces its text.
    ///
    /// # Errors
    /// As [`session`](Self::session).
    fn prompt<'a>(&'a self, moment: Moment<'a, PromptInput<'a>>) -> Decision<'a, PromptVerdict> {
        let _ = moment;
        pass()
    }

    /// Decides whether a request is sent to the model. A denial fails the turn.
    ///
    /// # Errors
    /// As [`session`](Self::session).
    fn request<'a>(&'a self, moment: Moment<'a, Request>) -> Decision<'a, RequestVerdict> {
        let _ = moment;
        pass()
    }

    /// Decides whether the history is compacted. A denial leaves the history unchanged.
    ///
    /// # Errors
    /// As [`session`](Self::session).
    fn compaction<'a>(&'a self, moment: Moment<'a, CompactionPlan>) -> Decision<'a> {
        let _ = moment;
        pass()
    }

    /// Decides whether a tool is called. [`Verdict::Modify`] replaces the arguments of the call.
    /// The model receives an injected message after the results of all calls in the same answer.
    ///
    /// # Errors
    /// As [`session`](Self::session).
    fn call<'a>(&'a self, moment: Moment<'a, ToolCall>) -> Decision<'a, CallVerdict> {
        let _ = moment;
        pass()
    }

    /// Decides about a tool's result that is not stored yet. [`Verdict::Modify`] replaces its
    /// content. A denial replaces it with an error that contains the reason. The model receives an
    /// injected message after the results of all calls in the same answer.
    ///
    /// # Errors
    /// As [`session`](Self::session).
    fn result<'a>(&'a self, moment: Moment<'a, ResultInput<'a>>) -> Decision<'a, ResultVerdict> {
        let _ = moment;
        pass()
    }

    /// Receives every event of every session after the event happened. Ephemeral events and events
    /// of the application are included. Only the report that a hook panicked in this function is
    /// left out. The turn waits until this function returns, so it must return quickly.
    fn event(&self, notification: &Notification) -> Reaction {
        let _ = notification;
        Reaction::Continue
    }
}

/// An operation that hooks decide about: its data, and the session in which it happens.
#[derive(Debug)]
pub struct Moment<'a, T> {
    /// The ids of the session in which the operation happens.
    pub session: &'a Identity,
    /// The data of the operation, as the previous hook left it.
    pub input: &'a T,
}

/// The future of a hook's verdict.
pub type Decision<'a, V = Verdict> = BoxFuture<'a, Result<V, HookFailed>>;

/// The decision of one hook about one operation.
///
/// `Change` is the type of the data that can replace the operation's data. `Message` is the type of
/// the message that the model can receive with the operation. [`Infallible`], the default of both,
/// has no values. If `Change` is [`Infallible`], a hook cannot change the operation. If `Message`
/// is [`Infallible`], a hook cannot inject a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict<Change = Infallible, Message = Infallible> {
    /// The operation happens unchanged.
    Continue,
    /// The operation happens with this data instead.
    Modify(Change),
    /// The operation does not happen, for this reason.
    Deny(String),
    /// The operation happens, and the model also receives this text as an injected message, which
    /// is stored in the log.
    Inject(Message),
    /// A person decides. The value is the question for the person.
    Ask(String),
}

/// The decision of a hook about a prompt. `Modify` contains the new text.
pub type PromptVerdict = Verdict<String, String>;

/// The decision of a hook about a request to the model. No hook can change the request.
pub type RequestVerdict = Verdict<Infallible, String>;

/// The decision of a hook about a tool call. `Modify` contains the new arguments.
pub type CallVerdict = Verdict<Data, String>;

/// The decision of a hook about a tool's result. `Modify` contains the new content.
pub type ResultVerdict = Verdict<Data, String>;

/// The answer of a hook to an event that has already happened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Reaction {
    /// The hook only observes.
    #[default]
    Continue,
    /// The model receives this text as an injected message with the next request of the session.
    /// The message is stored in the log with that request; until then it exists only in this
    /// process.
    Inject(String),
}

/// The reason why a hook failed, in the hook's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct HookFailed(pub String);

impl<T> Clone for Moment<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Moment<'_, T> {}

fn pass<'a, Change, Message>() -> Decision<'a, Verdict<Change, Message>>
where
    Change: Send + 'a,
    Message: Send + 'a,
{
    Box::pin(ready(Ok(Verdict::Continue)))
}
