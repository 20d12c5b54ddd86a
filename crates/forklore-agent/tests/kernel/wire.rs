//! Tests of the kernel's events as JSON. The snapshot has one line for each different form of an
//! event.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use forklore_agent::approve::{Answer, Approve, Policy, Question, Rule};
use forklore_agent::hook::{
    Decision, ForkInput, Hook, HookFailed, Moment, PromptInput, PromptVerdict, Verdict,
};
use forklore_agent::model::{EndReason, ModelErrorKind, StreamEvent};
use forklore_agent::notify::event::{ApplicationEvent, ApplicationName};
use forklore_agent::notify::{Name, Notification};
use forklore_agent::tool::ToolCall;
use forklore_agent::{AgentSession, Delegate, Kernel, Prompt};
use forklore_core::{Data, Part};
use forklore_engine::{Engine, Fork};
use forklore_store::memory::MemoryStore;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use crate::scripted::{Act, Scripted, calls, end, says};
use crate::world::{Ears, World, equipment, new_session};

struct Asks;

impl Policy for Asks {
    fn rule(&self, call: &ToolCall) -> Rule {
        if matches!(call.name.as_str(), "slow" | "flood") { Rule::Ask } else { Rule::Allow }
    }
}

impl Approve for Asks {
    fn approve<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Answer> {
        let slow = question.call.as_ref().is_none_or(|call| call.name == "slow");
        async move { if slow { Answer::Granted(None) } else { Answer::Denied(None) } }.boxed()
    }
}

/// A hook that fails on a prompt and asks the person about each fork.
struct Broken;

impl Hook for Broken {
    fn name(&self) -> &str {
        "broken"
    }

    fn prompt<'a>(&'a self, _: Moment<'a, PromptInput<'a>>) -> Decision<'a, PromptVerdict> {
        async { Err(HookFailed("no".into())) }.boxed()
    }

    fn fork<'a>(&'a self, _: Moment<'a, ForkInput<'a>>) -> Decision<'a> {
        async { Ok(Verdict::Ask("A fork?".into())) }.boxed()
    }
}

fn id(text: &str) -> forklore_core::SessionId {
    text.parse().unwrap()
}

async fn tools_and_thoughts(session: &AgentSession) {
    let mut acts = vec![
        Act::Say(StreamEvent::Thinking("hm".into())),
        Act::Say(StreamEvent::Thought { text: "hm".into(), opaque: None }),
    ];
    acts.extend(calls(&[
        ("a", "echo", r#"{"b":1,"a":[2.50,"x"]}"#),
        ("b", "fail", "{}"),
        ("c", "steps", "1"),
        ("d", "slow", "1"),
        ("e", "flood", "9"),
    ]));
    let retry = vec![Act::Fail(ModelErrorKind::Unreachable)];
    session.set_model(Scripted::named("small", Some(1_000), vec![acts, retry, says("done")]));
    let mut settings = session.equipment().settings;
    settings.backoff = Duration::ZERO;
    session.equip(|equipment| {
        equipment.settings = settings;
        equipment.policy = Arc::new(Asks);
        equipment.approve = Arc::new(Asks);
    });
    session.execute("go").await.unwrap();
    let part = Part::Text { text: "along".into() };
    session.execute(Prompt::from("with a part").with(part)).await.unwrap();
}

async fn failures(session: &AgentSession, ears: &Ears) {
    session.set_model(Scripted::new(vec![vec![Act::Fail(ModelErrorKind::Key)]]));
    session.execute("fail").await.unwrap_err();
    session.set_model(Scripted::new(vec![vec![
        Act::Say(StreamEvent::Text("half".into())),
        Act::Hang,
    ]]));
    let running = session.clone();
    let turn = tokio::spawn(async move { running.execute("hang").await });
    let halves = || {
        let deltas = ears.of(Name::ContentBlockDelta);
        deltas.iter().any(|answer| serde_json::to_string(&**answer).unwrap().contains("half"))
    };
    while !halves() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    session.interrupt();
    turn.await.unwrap().unwrap();
    let cut = vec![Act::Say(StreamEvent::Text("cut".into())), end(EndReason::Length)];
    session.set_model(Scripted::new(vec![cut]));
    session.execute("cut short").await.unwrap();
}

async fn children(session: &AgentSession) {
    session.set_model(Scripted::new(vec![says("done")]));
    let named = Delegate { agent: Some("helper".into()), ..Delegate::new("work") };
    let first = session.delegate(Delegate { id: Some(id("helper")), ..named.clone() }).await;
    let first = first.unwrap().session_id;
    let _ = session.delegate(Delegate { resume: Some(first), ..named.clone() }).await.unwrap();
    session.set_model(Scripted::new(vec![vec![Act::Fail(ModelErrorKind::Key)]]));
    let _ = session.delegate(Delegate { id: Some(id("failing")), ..named }).await.unwrap();
    let metadata = Some(Data::parse(r#"{"why": "to try"}"#).unwrap());
    let fork = Fork { id: Some(id("branch")), metadata, ..Fork::of(session.id()) };
    let branch = session.fork(fork).await.unwrap().child;
    branch.execute("on").await.unwrap();
}

/// Returns the field names of a value, without the fields' content.
fn form(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let fields = fields.iter().map(|(key, value)| format!("{key}:{}", form(value)));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
        }
        Value::Null => "null".into(),
        Value::Array(_) => "[]".into(),
        _ => "_".into(),
    }
}

/// Returns the JSON line of an event. Replaces the times and ids that differ from run to run.
fn line(event: &Value) -> String {
    let mut text = event.to_string();
    for key in ["ts", "event_id"] {
        if let Some(found) = event[key].as_str().or_else(|| event["data"]["cut"][key].as_str()) {
            text = text.replace(found, &format!("({key})"));
        }
    }
    text
}

#[tokio::test]
async fn every_event_has_its_canonical_name_and_form() {
    let ears = Arc::new(Ears::default());
    let engine = Engine::new(Arc::new(MemoryStore::default()));
    let builder = Kernel::builder(engine.clone()).sink(ears.clone()).hook(Arc::new(Broken));
    let world = World { kernel: builder.build(), ears: ears.clone() };
    let new = forklore_agent::NewSession { id: Some(id("root")), ..new_session() };
    let session = world.kernel.create(new, equipment(&Scripted::new(vec![])));
    tools_and_thoughts(&session).await;
    failures(&session, &ears).await;
    children(&session).await;
    session.set_model(Scripted::new(vec![says("in short")]));
    session.execute(&"long ".repeat(300)).await.unwrap();
    session.compact().await.unwrap().unwrap();
    let details = json!({"text": "look here"});
    session.announce(ApplicationEvent::new(ApplicationName::USER_NOTIFICATION, details));
    session.cleanup(true).await;
    let again = World::over(engine);
    let opened = again.kernel.open(&session.id(), equipment(&Scripted::new(vec![]))).await.unwrap();
    opened.execute("again").await.unwrap();

    let mut forms = BTreeMap::new();
    for notification in ears.all().iter().chain(&again.ears.all()) {
        let text = serde_json::to_string(&**notification).unwrap();
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["event"], notification.name());
        let read: Notification = serde_json::from_str(&text).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), text, "it is read as it was written");
        forms
            .entry(form(&value) + notification.name())
            .or_insert((notification.event.kind(), line(&value)));
    }
    let seen: Vec<_> = forms.values().map(|(name, _)| *name).collect();
    let missing: Vec<_> = Name::ALL.iter().filter(|name| !seen.contains(&Some(**name))).collect();
    assert!(missing.is_empty(), "{missing:?}");
    let mut lines: Vec<_> = forms.into_values().map(|(_, line)| line).collect();
    lines.sort();
    insta::assert_snapshot!(lines.join("\n"));
}
