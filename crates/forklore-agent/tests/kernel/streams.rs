//! Tests of listeners: subscriptions, which never make a turn wait, and the trace.

use std::collections::HashMap;
use std::fs;
use std::sync::{Arc, Mutex};

use forklore_agent::Kernel;
use forklore_agent::model::{EndReason, StreamEvent};
use forklore_agent::notify::{Lagged, Name, Notification, Received, Sink, Trace};
use forklore_engine::Engine;
use forklore_store::memory::MemoryStore;
use futures_util::StreamExt;
use serde_json::{Value, json};

use crate::each_store::on_each_store;
use crate::scripted::{Act, Scripted, calls, end, says};
use crate::world::{World, data, equipment, new_session};

fn piece(text: &str) -> Act {
    Act::Say(StreamEvent::Text(text.into()))
}

on_each_store!(nothing_is_announced_that_was_not_stored);

#[tokio::test]
async fn a_subscription_hears_its_session_alone_and_in_order() {
    let world = World::new();
    let model = Scripted::new(vec![says("one")]);
    let session = world.root(&model);
    let other = world.root(&model);
    let mut received = session.subscribe(64);
    let mut all = world.kernel.subscribe(64);
    session.execute("go").await.unwrap();
    other.execute("go").await.unwrap();
    let (id, other_id) = (session.id(), other.id());
    session.cleanup(false).await;
    drop(session);
    // The stream of a subscription ends when its session is dropped.
    let mut names = Vec::new();
    while let Some(Received::Event(reported)) = received.next().await {
        assert_eq!(reported.session_id, id);
        names.push(reported.name().to_owned());
    }
    let expected = [
        "session:start",
        "prompt:submit",
        "provider:request",
        "content_block:start",
        "content_block:delta",
        "content_block:delta",
        "content_block:end",
        "provider:response",
        "context:gauge",
        "prompt:complete",
        "orchestrator:complete",
        "session:end",
    ];
    assert_eq!(names, expected);
    let mut of = HashMap::new();
    for _ in 0..23 {
        let Some(Received::Event(reported)) = all.next().await else { panic!("one is missing") };
        *of.entry(reported.session_id.clone()).or_insert(0) += 1;
    }
    assert_eq!((of[&id], of[&other_id]), (12, 11));
}

#[tokio::test]
async fn everything_about_a_block_has_its_index() {
    let world = World::new();
    let say = Act::Say;
    let mut acts = vec![
        piece("Let me "),
        piece("see."),
        say(StreamEvent::Thinking("h".into())),
        say(StreamEvent::Thinking("m".into())),
        say(StreamEvent::Thought { text: "hm".into(), opaque: None }),
    ];
    // `calls` begins with a text, which is left out here.
    let mut rest = calls(&[("a", "echo", "1")]).split_off(1);
    let last = rest.pop().unwrap();
    acts.extend(rest);
    acts.extend([piece("So."), last]);
    let session = world.root(&Scripted::new(vec![acts, vec![end(EndReason::Done)]]));
    session.execute("go").await.unwrap();
    let about = ["content_block:start", "content_block:delta", "content_block:end"];
    let about = |name: &str| about.contains(&name) || name.starts_with("thinking:");
    let reported = world.ears.all().into_iter().filter(|it| about(it.name()));
    let reported: Vec<_> = reported.map(|it| (it.name().to_owned(), data(&it))).collect();
    let start = |index: u32, kind: &str| {
        ("content_block:start", json!({"block_type": kind, "block_index": index}))
    };
    let piece = |name, index: u32, kind: &str, text: &str| {
        (name, json!({"block_type": kind, "block_index": index, "delta": text}))
    };
    let ended = |index: u32, kind: &str, block: Value| {
        let data = json!({"block_type": kind, "block_index": index, "total_blocks": 4,
            "block": block, "partial": false});
        ("content_block:end", data)
    };
    let expected = [
        start(0, "text"),
        piece("content_block:delta", 0, "text", "Let me "),
        piece("content_block:delta", 0, "text", "see."),
        start(1, "thinking"),
        piece("thinking:delta", 1, "thinking", "h"),
        piece("thinking:delta", 1, "thinking", "m"),
        start(2, "tool_call"),
        start(3, "text"),
        piece("content_block:delta", 3, "text", "So."),
        ended(0, "text", json!({"text": "Let me see."})),
        ("thinking:final", json!({"block_index": 1, "thinking": "hm"})),
        ended(2, "tool_call", json!({"id": "a", "name": "echo", "arguments": 1})),
        ended(3, "text", json!({"text": "So."})),
    ];
    assert_eq!(reported, expected.map(|(name, data)| (name.to_owned(), data)));
}

#[tokio::test]
async fn a_slow_listener_learns_how_many_events_it_missed() {
    let world = World::new();
    let mut acts: Vec<_> = (0..1_000).map(|_| piece("x")).collect();
    acts.push(end(EndReason::Done));
    let session = world.root(&Scripted::new(vec![acts]));
    let received = session.subscribe(8);
    session.execute("go").await.unwrap();
    drop(session);
    let received: Vec<_> = received.collect().await;
    let missed: Vec<_> = received
        .iter()
        .filter_map(|incoming| match incoming {
            Received::Lagged(missed) => Some(*missed),
            Received::Event(_) => None,
        })
        .collect();
    let report = |name| {
        received
            .iter()
            .filter(|h| matches!(h, Received::Event(reported) if reported.is(name)))
            .count() as u64
    };
    // Before the pieces, the queue got four notifications: a start, a prompt, a request and the
    // start of the block.
    assert_eq!(report(Name::ContentBlockDelta), 4);
    assert_eq!(missed, [Lagged { ephemeral: 996, lasting: 0 }]);
    // Notifications that are not ephemeral are complete.
    assert_eq!(report(Name::ContentBlockEnd) + report(Name::OrchestratorComplete), 2);
}

/// A sink that checks each notification about stored data: the data must already be in the store.
struct Checks {
    engine: Engine,
    seen: Mutex<HashMap<String, usize>>,
}

impl Sink for Checks {
    fn take(&self, notification: &Arc<Notification>) {
        let log = self.engine.load(&notification.session_id).unwrap().events;
        let stored: String = log
            .iter()
            .map(|stored| format!("{} {}\n", stored.event.kind, stored.event.data.get()))
            .collect();
        let all = data(notification);
        let data = |key: &str| all[key].to_string();
        let needed = match notification.event.kind() {
            Some(Name::PromptSubmit) => vec!["user_message".into(), data("prompt")],
            Some(Name::ContentBlockEnd) => vec![match &all["block"]["text"] {
                Value::Null => all["block"]["id"].to_string(),
                text => text.to_string(),
            }],
            Some(Name::ProviderResponse) => vec!["provider_usage".into()],
            Some(Name::ToolPre) => vec![format!(
                "permission_decision {{\"by\":\"policy\",\"call_id\":{}",
                data("tool_call_id")
            )],
            Some(Name::ToolPost | Name::ToolError) => {
                vec![format!("tool_result {{\"call_id\":{}", data("tool_call_id"))]
            }
            Some(Name::PromptComplete) => vec![data("response")],
            Some(Name::ContextPostCompact) => vec!["history_compaction".into()],
            Some(Name::SessionFork) => vec!["session_fork".into()],
            Some(Name::DelegateSpawned) => vec!["\"status\":\"running\"".into()],
            Some(Name::DelegateCompleted) => vec!["\"status\":\"finished\"".into()],
            _ => Vec::new(),
        };
        for needed in &needed {
            assert!(
                stored.contains(needed.as_str()),
                "{notification:?} before {needed} in\n{stored}"
            );
        }
        if !needed.is_empty() {
            *self.seen.lock().unwrap().entry(notification.name().to_owned()).or_insert(0) += 1;
        }
    }
}

async fn nothing_is_announced_that_was_not_stored(world: World) {
    let engine = world.kernel.engine().clone();
    let checks = Arc::new(Checks { engine: engine.clone(), seen: Mutex::default() });
    let kernel = Kernel::builder(engine).sink(checks.clone()).build();
    let model = Scripted::new(vec![
        calls(&[("a", "echo", "1"), ("b", "fail", "1")]),
        says(&"long ".repeat(300)),
        says("a delegate's"),
        says("a summary"),
        says("after it"),
    ]);
    let session = kernel.create(new_session(), equipment(&model));
    session.execute("first").await.unwrap();
    let _ = session.delegate(forklore_agent::Delegate::new("yours")).await.unwrap();
    session.compact().await.unwrap().unwrap();
    session.execute("second").await.unwrap();
    let seen = checks.seen.lock().unwrap();
    let mut seen: Vec<_> = seen.iter().map(|(name, count)| (name.as_str(), *count)).collect();
    seen.sort_unstable();
    let expected = [
        ("content_block:end", 6),
        ("context:post_compact", 1),
        ("delegate:agent_completed", 1),
        ("delegate:agent_spawned", 1),
        ("prompt:complete", 3),
        ("prompt:submit", 3),
        ("provider:response", 4),
        ("session:fork", 1),
        ("tool:error", 1),
        ("tool:post", 1),
        ("tool:pre", 2),
    ];
    assert_eq!(seen, expected);
}

#[tokio::test]
async fn the_trace_is_a_line_each_and_a_torn_one_spoils_no_other() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("trace.jsonl");
    fs::write(&path, "{\"event\":\"torn").unwrap();
    let trace = Arc::new(Trace::open(&path).unwrap());
    let engine = Engine::new(Arc::new(MemoryStore::default()));
    let kernel = Kernel::builder(engine).sink(trace.clone()).build();
    let session = kernel.create(new_session(), equipment(&Scripted::new(vec![says("hi\nthere")])));
    session.execute("go").await.unwrap();
    let text = fs::read_to_string(&path).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("{\"event\":\"torn"));
    let answer: Vec<Value> = lines.map(|line| serde_json::from_str(line).unwrap()).collect();
    let names: Vec<_> = answer.iter().map(|messages| messages["event"].as_str().unwrap()).collect();
    let expected = [
        "session:start",
        "prompt:submit",
        "provider:request",
        "content_block:end",
        "provider:response",
        "context:gauge",
        "prompt:complete",
        "orchestrator:complete",
    ];
    assert_eq!(names, expected);
    assert!(
        answer
            .iter()
            .all(|messages| messages["parent_id"].is_null() && messages["root_id"].is_string())
    );
    assert_eq!(trace.lost(), 0);
}

#[cfg(unix)]
#[test]
fn the_trace_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("trace.jsonl");
    let _trace = Trace::open(&path).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(Trace::open(dir.path()).unwrap_err().to_string().starts_with("opening the trace "));
}

#[tokio::test]
async fn a_tool_tells_how_far_it_is() {
    let world = World::new();
    let model = Scripted::new(vec![calls(&[("c", "steps", "3")]), says("done")]);
    let session = world.root(&model);
    session.execute("go").await.unwrap();
    let notification = world.ears.of(Name::ToolProgress);
    let steps: Vec<_> = notification
        .iter()
        .map(|reported| data(reported)["step"]["done"].as_f64().unwrap())
        .collect();
    assert_eq!(steps, [0.0, 1.0, 2.0]);
    assert!(
        notification
            .iter()
            .all(|reported| reported.is_ephemeral() && data(reported)["tool_call_id"] == "c")
    );
}
