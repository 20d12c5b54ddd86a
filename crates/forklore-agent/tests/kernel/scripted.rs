//! A model for tests: it answers from a script and records its requests.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use forklore_agent::model::{
    AnswerStream, End, EndReason, Model, ModelError, ModelErrorKind, ModelName, ModelResult,
    Request, StreamEvent, TokenUsage,
};
use forklore_agent::tool::ToolCall;
use forklore_core::Data;
use futures_util::future::BoxFuture;
use futures_util::{FutureExt, StreamExt, stream};
use tokio::sync::Notify;

/// One step of a scripted answer.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    Say(StreamEvent),
    Fail(ModelErrorKind),
    Wait(Duration),
    /// Waits until the test notifies it.
    WaitFor(Arc<Notify>),
    /// Notifies the test that the earlier steps were read.
    Signal(Arc<Notify>),
    Hang,
    Panic,
}

/// The scripted model. After the end of its script, it answers `done`.
pub(crate) struct Scripted {
    name: ModelName,
    window: Option<u64>,
    /// The reason why the model cannot be called, if any.
    lacks: Option<&'static str>,
    answers: Mutex<VecDeque<Vec<Act>>>,
    requests: Mutex<Vec<Request>>,
}

impl Scripted {
    pub(crate) fn new(answers: Vec<Vec<Act>>) -> Arc<Self> {
        Self::named("small", None, answers)
    }

    pub(crate) fn named(model: &str, window: Option<u64>, answers: Vec<Vec<Act>>) -> Arc<Self> {
        Arc::new(Self {
            name: ModelName { provider: "test".into(), model: model.into() },
            window,
            lacks: None,
            answers: Mutex::new(answers.into()),
            requests: Mutex::default(),
        })
    }

    /// Returns a model that cannot be called, because `key` is missing.
    pub(crate) fn without(key: &'static str) -> Arc<Self> {
        let name = ModelName { provider: "test".into(), model: "small".into() };
        let (answers, requested) = (Mutex::default(), Mutex::default());
        Arc::new(Self { name, window: None, lacks: Some(key), answers, requests: requested })
    }

    /// Returns the requests that the model has received so far.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }
}

impl Model for Scripted {
    fn name(&self) -> &ModelName {
        &self.name
    }

    fn context_window(&self) -> Option<u64> {
        self.window
    }

    fn ready(&self) -> ModelResult<()> {
        let Some(lacks) = self.lacks else { return Ok(()) };
        let (provider, message) = ("test".into(), format!("no key: {lacks} is not set"));
        Err(ModelError { provider, message, kind: ModelErrorKind::Key, status: None, source: None })
    }

    fn stream<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, ModelResult<AnswerStream<'a>>> {
        self.requests.lock().unwrap().push(request.clone());
        let answer = self.answers.lock().unwrap().pop_front().unwrap_or_else(|| says("done"));
        async move {
            let acts = stream::iter(answer).then(async |act| match act {
                Act::Say(piece) => Some(Ok(piece)),
                Act::Fail(kind) => Some(Err(ModelError {
                    provider: "test".into(),
                    message: "scripted".into(),
                    kind,
                    status: None,
                    source: None,
                })),
                Act::Wait(time) => {
                    tokio::time::sleep(time).await;
                    None
                }
                Act::WaitFor(notify) => {
                    notify.notified().await;
                    None
                }
                Act::Signal(notify) => {
                    notify.notify_one();
                    None
                }
                Act::Hang => std::future::pending().await,
                Act::Panic => panic!("scripted panic"),
            });
            Ok(acts.filter_map(async |act| act).boxed())
        }
        .boxed()
    }

    fn body(&self, request: &Request) -> ModelResult<Vec<u8>> {
        Ok(serde_json::to_vec(&request.messages).unwrap())
    }
}

/// The usage that every scripted answer reports.
pub(crate) const TAKES: TokenUsage =
    TokenUsage { input: Some(100), output: Some(10), cached: Some(40), cache_written: None };

pub(crate) fn end(reason: EndReason) -> Act {
    Act::Say(StreamEvent::End(End { reason, usage: TAKES, request_id: Some("r".into()) }))
}

/// Returns an answer with `text`, sent in two pieces.
pub(crate) fn says(text: &str) -> Vec<Act> {
    let (a, b) = text.split_at(text.len() / 2);
    vec![
        Act::Say(StreamEvent::Text(a.into())),
        Act::Say(StreamEvent::Text(b.into())),
        end(EndReason::Done),
    ]
}

/// Returns an answer with tool calls. A call is given as its id, its tool's name and its arguments.
pub(crate) fn calls(calls: &[(&str, &str, &str)]) -> Vec<Act> {
    let mut acts = vec![Act::Say(StreamEvent::Text("let me see".into()))];
    acts.extend(calls.iter().map(|(id, name, arguments)| {
        Act::Say(StreamEvent::Call(ToolCall {
            id: (*id).into(),
            name: (*name).into(),
            arguments: Data::parse(arguments).unwrap(),
        }))
    }));
    acts.push(end(EndReason::Calls));
    acts
}
