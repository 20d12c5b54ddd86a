//! The operations that hooks decide about, with the data that a hook receives and may change.

use std::convert::Infallible;

use forklore_core::{Data, Part, SessionKind};
use forklore_engine::{CompactionPlan, Fork};

use super::{
    CallVerdict, Decision, Hook, Moment, PromptVerdict, RequestVerdict, ResultVerdict, Verdict,
};
use crate::model::Request;
use crate::tool::{ToolCall, ToolOutcome};

/// The name of an event in the report of a hook that failed when it received the event. For an
/// operation, the report has [`Operation::WHAT`] instead.
pub(crate) const TO_EVENTS: &str = "the event";

/// A session is about to be initialized.
#[derive(Debug)]
pub struct SessionInput<'a> {
    /// The configuration that is stored with the session; `None` if it has none.
    pub config: Option<&'a Data>,
}

/// A child session is about to be created.
#[derive(Debug)]
pub struct ForkInput<'a> {
    /// Whether the child is a branch or a delegate.
    pub kind: SessionKind,
    /// The fork request; `None` for a new session with an empty context.
    pub fork: Option<&'a Fork>,
}

/// A prompt arrived and is not stored yet.
#[derive(Debug)]
pub struct PromptInput<'a> {
    /// The text of the prompt.
    pub text: String,
    /// The other parts of the prompt, such as attachments.
    pub parts: &'a [Part],
}

/// A tool has returned a result that is not stored yet.
#[derive(Debug)]
pub struct ResultInput<'a> {
    /// The call that has the result.
    pub call: &'a ToolCall,
    /// The result that the tool returned, with the changes that earlier hooks made.
    pub outcome: ToolOutcome,
}

/// The data of an operation that hooks decide about.
pub(crate) trait Operation: Send + Sync + Sized {
    /// The type of the change that a hook can make to the data; [`Infallible`] if no hook can make
    /// one.
    type Change: Send;
    /// The type of the message that a hook can inject with the operation; [`Infallible`] if no hook
    /// can inject one.
    type Message: Text + Send;

    /// The operation in words, such as `the prompt`.
    const WHAT: &'static str;

    /// Asks one hook to decide about the operation.
    fn ask<'a>(
        hook: &'a dyn Hook,
        moment: Moment<'a, Self>,
    ) -> Decision<'a, Verdict<Self::Change, Self::Message>>;

    /// Makes the change of a hook to the data.
    fn modify(&mut self, change: Self::Change);

    /// Returns the tool call that a question to a person about this operation contains. Returns
    /// `None`, the default, if the operation is not a tool call.
    fn call(&self) -> Option<&ToolCall> {
        None
    }
}

/// A message for the model. `Infallible` implements this trait for operations without messages.
pub(crate) trait Text {
    fn into_text(self) -> String;
}

impl Text for String {
    fn into_text(self) -> String {
        self
    }
}

impl Text for Infallible {
    fn into_text(self) -> String {
        match self {}
    }
}

impl Operation for SessionInput<'_> {
    type Change = Infallible;
    type Message = Infallible;
    const WHAT: &'static str = "the session";

    fn ask<'a>(hook: &'a dyn Hook, moment: Moment<'a, Self>) -> Decision<'a> {
        hook.session(moment)
    }

    fn modify(&mut self, change: Infallible) {
        match change {}
    }
}

impl Operation for ForkInput<'_> {
    type Change = Infallible;
    type Message = Infallible;
    const WHAT: &'static str = "the fork";

    fn ask<'a>(hook: &'a dyn Hook, moment: Moment<'a, Self>) -> Decision<'a> {
        hook.fork(moment)
    }

    fn modify(&mut self, change: Infallible) {
        match change {}
    }
}

impl Operation for PromptInput<'_> {
    type Change = String;
    type Message = String;
    const WHAT: &'static str = "the prompt";

    fn ask<'a>(hook: &'a dyn Hook, moment: Moment<'a, Self>) -> Decision<'a, PromptVerdict> {
        hook.prompt(moment)
    }

    fn modify(&mut self, change: String) {
        self.text = change;
    }
}

impl Operation for Request {
    type Change = Infallible;
    type Message = String;
    const WHAT: &'static str = "the request";

    fn ask<'a>(hook: &'a dyn Hook, moment: Moment<'a, Self>) -> Decision<'a, RequestVerdict> {
        hook.request(moment)
    }

    fn modify(&mut self, change: Infallible) {
        match change {}
    }
}

impl Operation for CompactionPlan {
    type Change = Infallible;
    type Message = Infallible;
    const WHAT: &'static str = "the compaction";

    fn ask<'a>(hook: &'a dyn Hook, moment: Moment<'a, Self>) -> Decision<'a> {
        hook.compaction(moment)
    }

    fn modify(&mut self, change: Infallible) {
        match change {}
    }
}

impl Operation for ToolCall {
    type Change = Data;
    type Message = String;
    const WHAT: &'static str = "the call";

    fn ask<'a>(hook: &'a dyn Hook, moment: Moment<'a, Self>) -> Decision<'a, CallVerdict> {
        hook.call(moment)
    }

    fn modify(&mut self, change: Data) {
        self.arguments = change;
    }

    fn call(&self) -> Option<&ToolCall> {
        Some(self)
    }
}

impl Operation for ResultInput<'_> {
    type Change = Data;
    type Message = String;
    const WHAT: &'static str = "the result";

    fn ask<'a>(hook: &'a dyn Hook, moment: Moment<'a, Self>) -> Decision<'a, ResultVerdict> {
        hook.result(moment)
    }

    fn modify(&mut self, change: Data) {
        self.outcome.content = change;
    }
}
