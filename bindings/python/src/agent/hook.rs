//! Hooks that are Python objects.

use std::collections::HashSet;
use std::convert::Infallible;
use std::panic::resume_unwind;
use std::time::Duration;

use forklore_agent::hook::{
    CallVerdict, Decision, ForkInput, Hook, HookFailed, Moment, PromptInput, PromptVerdict,
    Reaction, RequestVerdict, ResultInput, ResultVerdict, SessionInput, Verdict,
};
use forklore_agent::model::Request;
use forklore_agent::tool::ToolCall;
use forklore_api::event::{Identity, Notification};
use forklore_core::{Data, SessionId};
use forklore_engine::CompactionPlan;
use futures_util::FutureExt;
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::task::block_in_place;

use super::model;
use super::reply::Question;
use super::runtime::Threads;

/// How long a turn waits until a hook has received an event.
const PATIENCE: Duration = Duration::from_secs(10);
/// The name of the method that receives events.
const EVENT: &str = "event";

/// A hook whose decisions a Python object makes.
pub(super) struct FunctionHook {
    pub(super) callables: Py<PyAny>,
    pub(super) name: String,
    pub(super) priority: i32,
    /// The methods that the hook has. The other operations happen without it.
    pub(super) methods: HashSet<String>,
}

/// A decision, as Python code writes it.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Written {
    Continue,
    Modify(Data),
    Deny(String),
    Inject(String),
    Ask(String),
}

/// What a hook may answer about an operation: `Change` and `Message` are those of [`Verdict`].
trait Permitted: Sized {
    fn of(data: Data) -> Result<Self, String>;
    fn of_text(text: String) -> Result<Self, String>;
}

impl Permitted for Infallible {
    fn of(_: Data) -> Result<Self, String> {
        Err("no hook can modify this".to_owned())
    }

    fn of_text(_: String) -> Result<Self, String> {
        Err("no hook can inject a message here".to_owned())
    }
}

impl Permitted for String {
    fn of(data: Data) -> Result<Self, String> {
        data.read().map_err(|error| format!("this is modified by a text: {error}"))
    }

    fn of_text(text: String) -> Result<Self, String> {
        Ok(text)
    }
}

impl Permitted for Data {
    fn of(data: Data) -> Result<Self, String> {
        Ok(data)
    }

    fn of_text(text: String) -> Result<Self, String> {
        Ok(Data::from_checked(json!(text).to_string()))
    }
}

impl FunctionHook {
    /// Asks the object's method about an operation, unless it has no such method.
    fn decide<'a, Change, Message>(
        &'a self,
        method: &'static str,
        session: &Identity,
        input: &impl Serialize,
    ) -> Decision<'a, Verdict<Change, Message>>
    where
        Change: Permitted + Send + 'a,
        Message: Permitted + Send + 'a,
    {
        if !self.methods.contains(method) {
            return Box::pin(async { Ok(Verdict::Continue) });
        }
        let session = ids(&session.session_id, session.parent_id.as_ref(), &session.root_id);
        let input = serde_json::to_string(input);
        async move {
            let failed = |error: serde_json::Error| HookFailed(error.to_string());
            let input = input.map_err(failed)?;
            let answer = self.answer(method, &session, &input).await.map_err(HookFailed)?;
            verdict(serde_json::from_str(&answer).map_err(failed)?).map_err(HookFailed)
        }
        .boxed()
    }

    async fn answer(&self, method: &str, session: &str, input: &str) -> Result<String, String> {
        self.question(method, session, input)?.answered().await
    }

    fn question(&self, method: &str, session: &str, input: &str) -> Result<Question, String> {
        let more = Python::try_attach(|py| -> PyResult<Vec<Py<PyAny>>> {
            let text =
                |text: &str| -> PyResult<_> { Ok(text.into_pyobject(py)?.into_any().unbind()) };
            Ok(vec![text(session)?, text(input)?])
        });
        let more = more.ok_or("the interpreter ends")?.map_err(|error| error.to_string())?;
        Question::put(&self.callables, "decide", method, more)
    }

    /// Lets the object receive an event on its event loop, and waits until it has.
    fn receive(&self, notification: &Notification) -> Result<Reaction, String> {
        let Notification { session_id, parent_id, root_id, .. } = notification;
        let session = ids(session_id, parent_id.as_ref(), root_id);
        let event = serde_json::to_string(notification).map_err(|error| error.to_string())?;
        let question = self.question(EVENT, &session, &event)?;
        let threads = Threads::of_process().map_err(|error| error.to_string())?;
        let answer = async { tokio::time::timeout(PATIENCE, question.answered()).await };
        let answer = block_in_place(|| threads.handle().block_on(answer));
        let answer = answer.map_err(|_| format!("it did not answer within {PATIENCE:?}"))??;
        match serde_json::from_str(&answer).map_err(|error| error.to_string())? {
            Written::Continue => Ok(Reaction::Continue),
            Written::Inject(text) => Ok(Reaction::Inject(text)),
            _ => Err("an event has happened: a hook can only inject a message".to_owned()),
        }
    }
}

fn verdict<Change: Permitted, Message: Permitted>(
    written: Written,
) -> Result<Verdict<Change, Message>, String> {
    Ok(match written {
        Written::Continue => Verdict::Continue,
        Written::Modify(data) => Verdict::Modify(Change::of(data)?),
        Written::Deny(reason) => Verdict::Deny(reason),
        Written::Inject(text) => Verdict::Inject(Message::of_text(text)?),
        Written::Ask(question) => Verdict::Ask(question),
    })
}

/// Returns the ids of a session as JSON.
fn ids(session: &SessionId, parent: Option<&SessionId>, root: &SessionId) -> String {
    json!({"session_id": session, "parent_id": parent, "root_id": root}).to_string()
}

impl Hook for FunctionHook {
    fn name(&self) -> &str {
        &self.name
    }

    fn priority(&self) -> i32 {
        self.priority
    }

    fn session<'a>(&'a self, moment: Moment<'a, SessionInput<'a>>) -> Decision<'a> {
        self.decide("session", moment.session, &json!({"config": moment.input.config}))
    }

    fn fork<'a>(&'a self, moment: Moment<'a, ForkInput<'a>>) -> Decision<'a> {
        let ForkInput { kind, fork } = moment.input;
        self.decide("fork", moment.session, &json!({"kind": kind, "fork": fork}))
    }

    fn prompt<'a>(&'a self, moment: Moment<'a, PromptInput<'a>>) -> Decision<'a, PromptVerdict> {
        let PromptInput { text, parts } = moment.input;
        self.decide("prompt", moment.session, &json!({"text": text, "parts": parts}))
    }

    fn request<'a>(&'a self, moment: Moment<'a, Request>) -> Decision<'a, RequestVerdict> {
        match model::payload(moment.input).map(Data::from_checked) {
            Ok(request) => self.decide("request", moment.session, &request),
            Err(error) => Box::pin(async move { Err(HookFailed(error.to_string())) }),
        }
    }

    fn compaction<'a>(&'a self, moment: Moment<'a, CompactionPlan>) -> Decision<'a> {
        let CompactionPlan { from_index, to_index, messages, .. } = moment.input;
        let plan = json!({"from_index": from_index, "to_index": to_index, "messages": messages});
        self.decide("compaction", moment.session, &plan)
    }

    fn call<'a>(&'a self, moment: Moment<'a, ToolCall>) -> Decision<'a, CallVerdict> {
        self.decide("call", moment.session, moment.input)
    }

    fn result<'a>(&'a self, moment: Moment<'a, ResultInput<'a>>) -> Decision<'a, ResultVerdict> {
        #[derive(Serialize)]
        struct Result<'a> {
            call: &'a ToolCall,
            content: &'a Data,
            is_error: bool,
        }
        let ResultInput { call, outcome } = moment.input;
        let result = Result { call, content: &outcome.content, is_error: outcome.is_error };
        self.decide("result", moment.session, &result)
    }

    fn event(&self, notification: &Notification) -> Reaction {
        if !self.methods.contains(EVENT) {
            return Reaction::Continue;
        }
        // The kernel reports a panic of this method as `hook:error`. This one prints nothing.
        self.receive(notification).unwrap_or_else(|why| resume_unwind(Box::new(why)))
    }
}
