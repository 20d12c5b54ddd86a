//! Tests of hooks: they run in order before an operation, and a hook that fails is skipped.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use forklore_agent::approve::{Answer, Approve, Question};
use forklore_agent::hook::{
    CallVerdict, Decision, ForkInput, Hook, HookFailed, Moment, PromptInput, PromptVerdict,
    Reaction, RequestVerdict, ResultInput, ResultVerdict, SessionInput, Verdict,
};
use forklore_agent::model::Request;
use forklore_agent::notify::{Name, Notification};
use forklore_agent::tool::ToolCall;
use forklore_agent::{Error, Kernel};
use forklore_core::Data;
use forklore_engine::{CompactionPlan, Engine, Fork, ListRequest};
use forklore_store::memory::MemoryStore;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::json;

use crate::scripted::{Scripted, calls, says};
use crate::world::{Ears, World, data, equipment, new_session};

type Answered<V = Verdict> = Result<V, HookFailed>;
type Hear = dyn Fn(&Notification) -> Reaction + Send + Sync;
type On<T, V = Verdict> = Option<Box<dyn Fn(&T) -> Answered<V> + Send + Sync>>;

/// A hook that answers with closures.
#[derive(Default)]
struct Test {
    name: &'static str,
    priority: i32,
    session: Option<Verdict>,
    fork: Option<Verdict>,
    compaction: Option<Verdict>,
    request: On<Request, RequestVerdict>,
    prompt: On<String, PromptVerdict>,
    call: On<ToolCall, CallVerdict>,
    result: On<ToolCall, ResultVerdict>,
    event: Option<Box<Hear>>,
}

fn answer<'a, T, V: Send + 'a>(
    on: &On<T, Verdict<V, String>>,
    input: &T,
) -> Decision<'a, Verdict<V, String>> {
    let answer = on.as_ref().map_or(Ok(Verdict::Continue), |on| on(input));
    async { answer }.boxed()
}

fn fixed<'a>(verdict: Option<&Verdict>) -> Decision<'a> {
    let verdict = verdict.cloned().unwrap_or(Verdict::Continue);
    async { Ok(verdict) }.boxed()
}

impl Hook for Test {
    fn name(&self) -> &str {
        self.name
    }
    fn priority(&self) -> i32 {
        self.priority
    }
    fn session<'a>(&'a self, _: Moment<'a, SessionInput<'a>>) -> Decision<'a> {
        fixed(self.session.as_ref())
    }
    fn fork<'a>(&'a self, _: Moment<'a, ForkInput<'a>>) -> Decision<'a> {
        fixed(self.fork.as_ref())
    }
    fn prompt<'a>(&'a self, moment: Moment<'a, PromptInput<'a>>) -> Decision<'a, PromptVerdict> {
        async move {
            if self.name == "hangs" {
                std::future::pending::<()>().await;
            }
            answer(&self.prompt, &moment.input.text).await
        }
        .boxed()
    }
    fn request<'a>(&'a self, moment: Moment<'a, Request>) -> Decision<'a, RequestVerdict> {
        answer(&self.request, moment.input)
    }
    fn compaction<'a>(&'a self, _: Moment<'a, CompactionPlan>) -> Decision<'a> {
        fixed(self.compaction.as_ref())
    }
    fn call<'a>(&'a self, moment: Moment<'a, ToolCall>) -> Decision<'a, CallVerdict> {
        answer(&self.call, moment.input)
    }
    fn result<'a>(&'a self, moment: Moment<'a, ResultInput<'a>>) -> Decision<'a, ResultVerdict> {
        answer(&self.result, moment.input.call)
    }
    fn event(&self, notification: &Notification) -> Reaction {
        self.event.as_ref().map_or(Reaction::Continue, |event| event(notification))
    }
}

fn world(hooks: Vec<Test>) -> World {
    let ears = Arc::new(Ears::default());
    let engine = Engine::new(Arc::new(MemoryStore::default()));
    let builder = Kernel::builder(engine).sink(ears.clone());
    let kernel = hooks.into_iter().fold(builder, |builder, hook| builder.hook(Arc::new(hook)));
    World { kernel: kernel.build(), ears }
}

fn on_prompt(
    name: &'static str,
    priority: i32,
    prompt: impl Fn(&String) -> Answered<PromptVerdict> + Send + Sync + 'static,
) -> Test {
    Test { name, priority, prompt: Some(Box::new(prompt)), ..Test::default() }
}

fn text(text: &str) -> Data {
    Data::of(text).unwrap()
}

#[tokio::test]
async fn hooks_run_by_priority_each_on_the_result_of_the_one_before() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let add = |name: &'static str, priority| {
        let seen = seen.clone();
        on_prompt(name, priority, move |prompt| {
            seen.lock().unwrap().push((name, prompt.clone()));
            Ok(Verdict::Modify(format!("{prompt}, {name}")))
        })
    };
    let inject = on_prompt("reminds", 9, |_| Ok(Verdict::Inject("be kind".into())));
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

#[tokio::test(start_paused = true)]
async fn a_failing_hook_is_reported_and_skipped() {
    let world = world(vec![
        on_prompt("fails", 0, |_| Err(HookFailed("no disk".into()))),
        on_prompt("panics", 1, |_| panic!("at the hook")),
        on_prompt("hangs", 2, |_| Ok(Verdict::Continue)),
        on_prompt("works", 3, |_| Ok(Verdict::Modify("changed".into()))),
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
    let world = world(vec![on_prompt("no", 0, |_| Ok(Verdict::Deny("not now".into())))]);
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
    let fork = Some(Verdict::Deny("one is enough".into()));
    let world = world(vec![Test { name: "no", fork, ..Test::default() }]);
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
    let guard = |call: &ToolCall| {
        Ok(match call.id.as_str() {
            "1" => Verdict::Modify(Data::parse("[7]").unwrap()),
            "2" => Verdict::Deny("too loud".into()),
            "3" => Verdict::Ask("Really?".into()),
            _ => Verdict::Inject("mind the time".into()),
        })
    };
    let wash = |call: &ToolCall| {
        Ok(if call.id == "4" { Verdict::Modify(text("washed")) } else { Verdict::Continue })
    };
    let world = world(vec![
        Test { name: "guard", call: Some(Box::new(guard)), ..Test::default() },
        Test { name: "wash", result: Some(Box::new(wash)), ..Test::default() },
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
    let speak = |_: &ToolCall| Ok(Verdict::Inject("mind the gap".into()));
    let world =
        world(vec![Test { name: "speaks", result: Some(Box::new(speak)), ..Test::default() }]);
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
async fn a_hook_denies_or_permits_every_operation() {
    let deny = |why: &str| Some(Verdict::Deny(why.to_owned()));
    let world = world(vec![Test { name: "no", compaction: deny("keep it"), ..Test::default() }]);
    let session = world.root(&Scripted::new(vec![says(&"word ".repeat(400))]));
    session.execute("one").await.unwrap();
    session.execute("two").await.unwrap();
    assert_eq!(session.compact().await.unwrap(), None);
    let world = self::world(vec![Test { name: "no", session: deny("full"), ..Test::default() }]);
    let error = world.root(&Scripted::new(vec![])).execute("one").await.unwrap_err();
    assert_eq!(error.to_string(), "the session was denied by no: full");
    let first = |request: &Request| {
        Ok(match request.messages.len() {
            1 => Verdict::Inject("be brief".into()),
            _ => Verdict::Deny("enough".into()),
        })
    };
    let hook = Test { name: "no", request: Some(Box::new(first)), ..Test::default() };
    let (world, model) = (self::world(vec![hook]), Scripted::new(vec![]));
    let session = world.root(&model);
    session.execute("one").await.unwrap();
    assert_eq!(model.requests()[0].messages.last().unwrap().plain_text(), "be brief");
    let error = session.execute("two").await.unwrap_err();
    assert_eq!(error.to_string(), "the request was denied by no: enough");
    assert_eq!(world.types(&session.id()).last().unwrap(), "turn_failed");
}

struct Yes;

impl Approve for Yes {
    fn approve<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Answer> {
        async { Answer::Granted(Some(format!("yes to {}", question.prompt))) }.boxed()
    }
}

#[tokio::test]
async fn the_note_of_a_granted_question_of_a_hook_is_recorded() {
    let ask = |_: &ToolCall| Ok(Verdict::Ask("Really?".into()));
    let world = world(vec![Test { name: "asks", call: Some(Box::new(ask)), ..Test::default() }]);
    let session = world.root(&Scripted::new(vec![calls(&[("1", "echo", "1")])]));
    session.equip(|equipment| equipment.approve = Arc::new(Yes));
    session.execute("go").await.unwrap();
    let events = world.events(&session.id());
    let decision = events.iter().find(|(kind, _)| kind == "permission_decision").unwrap();
    let expected = json!({"call_id": "1", "name": "echo", "decision": "allow", "by": "policy",
        "reason": "yes to Really?"});
    assert_eq!(decision.1, expected);
    let granted: Vec<_> = world.ears.of(Name::ApprovalGranted).iter().map(|it| data(it)).collect();
    assert_eq!(granted, [json!({"tool_call_id": "1", "reason": "yes to Really?"})]);
}

#[tokio::test]
async fn the_note_of_a_granted_operation_is_announced() {
    let ask = |request: &Request| Ok(Verdict::Ask(format!("{} sent?", request.messages.len())));
    let world = world(vec![Test { name: "asks", request: Some(Box::new(ask)), ..Test::default() }]);
    let session = world.root(&Scripted::new(vec![says("done")]));
    session.equip(|equipment| equipment.approve = Arc::new(Yes));
    session.execute("go").await.unwrap();
    let granted: Vec<_> = world.ears.of(Name::ApprovalGranted).iter().map(|it| data(it)).collect();
    assert_eq!(granted, [json!({"tool_call_id": null, "reason": "yes to 1 sent?"})]);
}

#[tokio::test]
async fn a_hook_hears_of_every_event_and_sends_the_model_a_message_with_its_next_request() {
    let received = Arc::new(Mutex::new(Vec::new()));
    let hear = received.clone();
    let event = move |notification: &Notification| {
        hear.lock().unwrap().push(notification.name().to_owned());
        match notification.name() {
            "tool:error" => Reaction::Inject("it failed; try another way".into()),
            "prompt:complete" => Reaction::Inject("a turn is over".into()),
            _ => Reaction::Continue,
        }
    };
    let world =
        world(vec![Test { name: "hears", event: Some(Box::new(event)), ..Test::default() }]);
    let model = Scripted::new(vec![calls(&[("a", "fail", "1")])]);
    let session = world.root(&model);
    session.execute("go").await.unwrap();
    let last = |at: usize| model.requests()[at].messages.last().unwrap().plain_text();
    assert_eq!(last(1), "it failed; try another way");
    let all: Vec<_> = world.ears.all().iter().map(|it| it.name().to_owned()).collect();
    assert_eq!(*received.lock().unwrap(), all);
    session.execute("on").await.unwrap();
    assert_eq!(last(2), "a turn is over");
    let injected = json!({"content": "a turn is over", "injected": true});
    assert!(world.events(&session.id()).iter().any(|(_, data)| *data == injected));
}

#[tokio::test]
async fn a_hook_that_panics_at_an_event_is_reported_once_for_each() {
    let event = |notification: &Notification| match notification.name() {
        "prompt:submit" | "hook:error" => panic!("at the event"),
        _ => Reaction::Continue,
    };
    let world =
        world(vec![Test { name: "panics", event: Some(Box::new(event)), ..Test::default() }]);
    let session = world.root(&Scripted::new(vec![]));
    session.execute("go").await.unwrap();
    let failed: Vec<_> = world.ears.of(Name::HookError).iter().map(|it| data(it)).collect();
    let error = "it panicked: at the event";
    assert_eq!(failed, [json!({"hook": "panics", "gate": "the event", "error": error})]);
}
