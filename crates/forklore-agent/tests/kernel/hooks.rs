//! Tests of hooks: they run in order before an operation, and a hook that fails is skipped.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use forklore_agent::hook::{Gate, Hook, HookFailed, HookInput, Moment, Verdict};
use forklore_agent::notify::Name;
use forklore_agent::{Error, Kernel};
use forklore_core::Data;
use forklore_engine::{Engine, Fork, ListRequest};
use forklore_store::memory::MemoryStore;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::json;

use crate::scripted::{Scripted, calls, says};
use crate::world::{Ears, World, data, equipment, new_session};

type Ask = dyn Fn(&Moment<'_>) -> Result<Verdict, HookFailed> + Send + Sync;

struct Test {
    name: &'static str,
    priority: i32,
    gate: Gate,
    ask: Box<Ask>,
}

impl Hook for Test {
    fn name(&self) -> &str {
        self.name
    }
    fn priority(&self) -> i32 {
        self.priority
    }
    fn wants(&self, gate: Gate) -> bool {
        gate == self.gate
    }
    fn ask<'a>(&'a self, moment: &'a Moment<'a>) -> BoxFuture<'a, Result<Verdict, HookFailed>> {
        async move {
            if self.name == "hangs" {
                std::future::pending::<()>().await;
            }
            (self.ask)(moment)
        }
        .boxed()
    }
}

fn hook(
    name: &'static str,
    priority: i32,
    gate: Gate,
    ask: impl Fn(&Moment<'_>) -> Result<Verdict, HookFailed> + Send + Sync + 'static,
) -> Arc<dyn Hook> {
    Arc::new(Test { name, priority, gate, ask: Box::new(ask) })
}

fn world(hooks: Vec<Arc<dyn Hook>>) -> World {
    let ears = Arc::new(Ears::default());
    let engine = Engine::new(Arc::new(MemoryStore::default()));
    let builder = Kernel::builder(engine).sink(ears.clone());
    let kernel = hooks.into_iter().fold(builder, forklore_agent::KernelBuilder::hook).build();
    World { kernel, ears }
}

fn prompt(moment: &Moment<'_>) -> String {
    match &moment.input {
        HookInput::Prompt { text, .. } => text.clone(),
        other => panic!("{other:?}"),
    }
}

fn text(text: &str) -> Data {
    Data::of(text).unwrap()
}

#[tokio::test]
async fn hooks_run_by_priority_each_on_the_result_of_the_one_before() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let add = |name: &'static str, priority| {
        let seen = seen.clone();
        hook(name, priority, Gate::Prompt, move |moment| {
            let prompt = prompt(moment);
            seen.lock().unwrap().push((name, prompt.clone()));
            Ok(Verdict::Modify(text(&format!("{prompt}, {name}"))))
        })
    };
    let inject = hook("reminds", 9, Gate::Prompt, |_| Ok(Verdict::Inject("be kind".into())));
    let world = world(vec![add("second", 5), inject, add("first", -5), add("third", 5)]);
    let session = world.root(&Scripted::new(vec![]));
    session.execute("go").await.unwrap();
    let expected = [("first", "go"), ("second", "go, first"), ("third", "go, first, second")];
    let expected = expected.map(|(name, prompt)| (name, prompt.to_owned()));
    assert_eq!(*seen.lock().unwrap(), expected);
    let events = world.events(&session.id());
    assert_eq!(events[0].1, json!({"content": "go, first, second, third"}));
    assert_eq!(events[1].1, json!({"content": "be kind", "injected": true}));
}

#[tokio::test]
async fn a_failing_hook_is_reported_and_skipped() {
    let world = world(vec![
        hook("fails", 0, Gate::Prompt, |_| Err(HookFailed("no disk".into()))),
        hook("panics", 1, Gate::Prompt, |_| panic!("at the hook")),
        hook("hangs", 2, Gate::Prompt, |_| Ok(Verdict::Continue)),
        hook("works", 3, Gate::Prompt, |_| Ok(Verdict::Modify(text("changed")))),
    ]);
    let session = world.root(&Scripted::new(vec![]));
    session.equip(|equipment| equipment.settings.hook_patience = Duration::from_millis(20));
    session.execute("go").await.unwrap();
    assert_eq!(world.events(&session.id())[0].1, json!({"content": "changed"}));
    let notification = world.ears.of(Name::HookError);
    let messages: Vec<_> = notification.iter().map(|reported| data(reported)).collect();
    let messages: Vec<_> = messages.iter().map(|data| (&data["hook"], &data["error"])).collect();
    let expected = [
        (json!("fails"), json!("no disk")),
        (json!("panics"), json!("it panicked: at the hook")),
        (json!("hangs"), json!("it did not answer within 20ms")),
    ];
    assert_eq!(messages, expected.iter().map(|(a, b)| (a, b)).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_hook_denies_a_prompt_before_it_is_written() {
    let world = world(vec![hook("no", 0, Gate::Prompt, |_| Ok(Verdict::Deny("not now".into())))]);
    let model = Scripted::new(vec![]);
    let session = world.root(&model);
    let error = session.execute("go").await.unwrap_err();
    assert_eq!(error.to_string(), "the prompt was denied by no: not now");
    assert!(matches!(error, Error::Denied { .. }));
    assert!(world.types(&session.id()).is_empty());
    assert!(model.requests().is_empty());
    assert!(world.ears.names(None).is_empty());
}

#[tokio::test]
async fn a_hook_denies_a_fork_before_it_is_written() {
    let world =
        world(vec![hook("no", 0, Gate::Fork, |_| Ok(Verdict::Deny("one is enough".into())))]);
    let model = Scripted::new(vec![]);
    let session = world.root(&model);
    session.execute("go").await.unwrap();
    assert!(session.fork(Fork::of(session.id())).await.is_err());
    let mut child = new_session();
    child.parent_id = Some(session.id());
    assert!(world.kernel.create(child, equipment(&model)).initialize().await.is_err());
    let all = ListRequest::default();
    assert_eq!(world.kernel.engine().list(&all).unwrap().sessions.len(), 1);
    assert!(world.ears.of(Name::SessionFork).is_empty());
}

#[tokio::test]
async fn hooks_change_deny_and_ask_about_calls_and_change_results() {
    let world = world(vec![
        hook("guard", 0, Gate::Call, |moment| {
            let HookInput::Call { call } = &moment.input else { panic!() };
            Ok(match call.id.as_str() {
                "1" => Verdict::Modify(Data::parse("[7]").unwrap()),
                "2" => Verdict::Deny("too loud".into()),
                "3" => Verdict::Ask("Really?".into()),
                _ => Verdict::Inject("mind the time".into()),
            })
        }),
        hook("wash", 0, Gate::Outcome, |moment| {
            let HookInput::Outcome { call, .. } = &moment.input else { panic!() };
            Ok(if call.id == "4" { Verdict::Modify(text("washed")) } else { Verdict::Continue })
        }),
    ]);
    let all = [("1", "echo", "1"), ("2", "echo", "2"), ("3", "echo", "3"), ("4", "echo", "4")];
    let model = Scripted::new(vec![calls(&all), says("done")]);
    let session = world.root(&model);
    session.execute("go").await.unwrap();
    let events = world.events(&session.id());
    let of = |kind: &str| {
        let of = events.iter().filter(|(is, _)| is == kind);
        of.map(|(_, data)| data.clone()).collect::<Vec<_>>()
    };
    let results: Vec<_> = of("tool_result").iter().map(|data| data["content"].clone()).collect();
    let expected =
        [json!("[7]"), json!("too loud"), json!("nobody is there to ask"), json!("washed")];
    assert_eq!(results, expected);
    let decisions = of("permission_decision");
    assert_eq!(decisions[0]["arguments"], json!([7]));
    assert_eq!(decisions[1]["by"], "hook guard");
    assert_eq!(of("tool_call")[0]["arguments"], json!(1));
    // The messages that the hooks injected follow the last result.
    let kinds: Vec<_> = events.iter().map(|(kind, _)| kind.as_str()).collect();
    let location = kinds.iter().rposition(|kind| *kind == "tool_result").unwrap();
    assert_eq!(events[location + 1].1, json!({"content": "mind the time", "injected": true}));
}

#[tokio::test]
async fn a_hook_sends_the_model_a_message_behind_a_result() {
    let speak = hook("speaks", 0, Gate::Outcome, |_| Ok(Verdict::Inject("mind the gap".into())));
    let world = world(vec![speak]);
    let model = Scripted::new(vec![calls(&[("a", "echo", "1"), ("b", "echo", "2")]), says("so")]);
    let session = world.root(&model);
    session.execute("go").await.unwrap();
    let events = world.events(&session.id());
    let kinds: Vec<_> = events.iter().map(|(kind, _)| kind.as_str()).collect();
    let results = kinds.iter().rposition(|kind| *kind == "tool_result").unwrap();
    assert_eq!(kinds[results + 1..results + 3], ["user_message", "user_message"]);
    assert_eq!(events[results + 1].1, json!({"content": "mind the gap", "injected": true}));
    let request = &model.requests()[1];
    assert_eq!(request.messages.last().unwrap().plain_text(), "mind the gap");
}

#[tokio::test]
async fn a_verdict_for_which_there_is_no_use_is_reported() {
    let changes = |gate| hook("changes", 0, gate, |_| Ok(Verdict::Modify(text("other"))));
    let speaks = |gate| hook("speaks", 1, gate, |_| Ok(Verdict::Inject("hear".into())));
    let changed = [Gate::Ready, Gate::Fork, Gate::Request, Gate::Compact].map(changes);
    let spoken = [Gate::Ready, Gate::Fork, Gate::Compact].map(speaks);
    let world = world(changed.into_iter().chain(spoken).collect());
    let long = "word ".repeat(400);
    let answers = vec![says(&long), says(&long), says(&long), says("in short")];
    let session = world.root(&Scripted::new(answers));
    for prompt in ["one", "two", "three"] {
        session.execute(prompt).await.unwrap();
    }
    let _ = session.fork(Fork::of(session.id())).await.unwrap();
    session.compact().await.unwrap().unwrap();
    let mut errors: Vec<String> = world
        .ears
        .of(Name::HookError)
        .iter()
        .map(|reported| data(reported)["error"].as_str().unwrap().to_owned())
        .collect();
    errors.sort();
    errors.dedup();
    let expected = [
        "a hook cannot change the compaction",
        "a hook cannot change the fork",
        "a hook cannot change the request",
        "a hook cannot change the session",
        "a hook cannot send the model a message with the compaction",
        "a hook cannot send the model a message with the fork",
        "a hook cannot send the model a message with the session",
    ];
    assert_eq!(errors, expected);
}
