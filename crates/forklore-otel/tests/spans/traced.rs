//! Snapshots of the complete spans of sessions.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use forklore_agent::delegate_tool::{DelegateTool, Limits};
use forklore_agent::model::ModelErrorKind;
use forklore_agent::notify::{Identity, KernelEvent, Name, Notification, Sink};
use forklore_agent::{Kernel, NewSession};
use forklore_engine::{Clock, Engine, Fork};
use forklore_otel::{Spans, TracingConfig};
use forklore_store::memory::MemoryStore;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::collector::Collector;
use crate::scripted::{Act, Scripted, calls, says};
use crate::world::{equipment, new_session};

pub(crate) fn config(endpoint: &str) -> TracingConfig {
    TracingConfig { endpoint: endpoint.to_owned(), header_env: [].into(), content: false }
}

/// A clock that advances by a millisecond each time it is read, so that all times differ.
#[derive(Default)]
struct Ticks(AtomicI64);

impl Clock for Ticks {
    fn now(&self) -> Timestamp {
        let tick = self.0.fetch_add(1, Ordering::Relaxed);
        Timestamp::from_millisecond(1_767_225_600_000 + tick).unwrap()
    }

    fn random(&self) -> [u8; 10] {
        let mut random = [0; 10];
        random[..8].copy_from_slice(&self.0.fetch_add(1, Ordering::Relaxed).to_be_bytes());
        random
    }
}

/// Returns a kernel, and the sink that converts the kernel's notifications to spans.
pub(crate) fn traced(config: &TracingConfig) -> (Kernel, Arc<Spans>) {
    let spans = Arc::new(Spans::new(config, "tester").unwrap());
    let engine = Engine::new(Arc::new(MemoryStore::default()));
    let engine = engine.with_clock(Arc::new(Ticks::default()));
    (Kernel::builder(engine).sink(spans.clone()).build(), spans)
}

pub(crate) fn named(id: &str) -> NewSession {
    NewSession { id: Some(id.parse().unwrap()), ..new_session() }
}

/// Compares the spans with a snapshot. Replaces generated ids, which differ between runs.
fn assert_spans(name: &str, collector: &Collector) {
    let uuid = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";
    insta::with_settings!({filters => [(uuid, "UUID")]}, {
        insta::assert_json_snapshot!(name, collector.spans());
    });
}

#[tokio::test]
async fn a_turn_is_a_trace_and_a_fork_is_linked_to_it() {
    let collector = Collector::that_says("200 OK");
    let (kernel, spans) = traced(&config(&collector.endpoint));
    let model = Scripted::new(vec![
        calls(&[("1", "echo", "{\"secret\":1}"), ("2", "fail", "{}")]),
        says("the secret answer"),
        vec![Act::Fail(ModelErrorKind::Unreachable)],
        says("other"),
    ]);
    let root = kernel.create(named("the-root"), equipment(&model));
    root.execute("a secret question").await.unwrap();
    let fork = Fork { id: Some("the-fork".parse().unwrap()), ..Fork::of(root.id()) };
    let forked = root.fork(fork).await.unwrap().child;
    forked.execute("go on").await.unwrap();
    assert!(spans.end().await);
    assert_spans("a_turn_and_a_fork", &collector);
    assert!(!collector.spans().to_string().contains("secret"), "nothing of what was said");
    assert_eq!(collector.resource(), "tester");
}

#[tokio::test]
async fn sub_agents_work_inside_the_calls_of_their_parents() {
    let collector = Collector::that_says("200 OK");
    let (kernel, spans) = traced(&config(&collector.endpoint));
    let task = "{\"task\":\"do it\",\"name\":\"worker\"}";
    let model = Scripted::new(vec![calls(&[("a", "delegate", task)]), says("did"), says("done")]);
    let mut equipment = equipment(&model);
    equipment.delegation = DelegateTool::within(Limits::default());
    let root = kernel.create(named("the-root"), equipment);
    root.execute("go").await.unwrap();
    assert!(spans.end().await);
    assert_spans("a_sub_agent", &collector);
}

#[tokio::test]
async fn messages_are_traced_on_request() {
    let collector = Collector::that_says("200 OK");
    let header_env = [("x-token".to_owned(), "CARGO_PKG_NAME".to_owned())].into();
    let config = TracingConfig { content: true, header_env, ..config(&collector.endpoint) };
    let (kernel, spans) = traced(&config);
    let model = Scripted::new(vec![calls(&[("1", "echo", "{\"a\":1}")]), says("so")]);
    let root = kernel.create(named("the-root"), equipment(&model));
    root.execute("why?").await.unwrap();
    assert!(spans.end().await);
    assert_spans("with_content", &collector);
    assert_eq!(collector.header("x-token").as_deref(), Some("forklore-otel"));
}

#[tokio::test]
async fn a_turn_that_fails_or_is_interrupted_says_so() {
    let collector = Collector::that_says("200 OK");
    let (kernel, spans) = traced(&config(&collector.endpoint));
    let model = Scripted::new(vec![
        vec![Act::Fail(ModelErrorKind::Key)],
        calls(&[("1", "hang", "{}")]),
        vec![Act::Hang],
    ]);
    let root = kernel.create(named("the-root"), equipment(&model));
    root.execute("one").await.unwrap_err();
    let mut ears = kernel.subscribe(100);
    let running = root.clone();
    let turn = tokio::spawn(async move { running.execute("two").await });
    loop {
        use forklore_agent::notify::Received;
        match futures_util::StreamExt::next(&mut ears).await.unwrap() {
            Received::Event(reported) if reported.is(Name::ToolPre) => break,
            _ => {}
        }
    }
    root.interrupt();
    turn.await.unwrap().unwrap();
    root.cleanup(true).await;
    assert!(spans.end().await);
    assert_spans("failed_and_interrupted", &collector);
}

/// Sends a notification to `spans`, as a kernel does.
fn tell(spans: &Spans, session: &str, parent: Option<&str>, event: KernelEvent) {
    static TICKS: Ticks = Ticks(AtomicI64::new(0));
    let identity = Identity {
        session_id: session.parse().unwrap(),
        parent_id: parent.map(|parent| parent.parse().unwrap()),
        root_id: "old".parse().unwrap(),
    };
    spans.take(&Arc::new(Notification::new(identity, TICKS.now(), event)));
}

/// Returns the kernel event with this name and these fields.
fn event(name: &str, data: &Value) -> KernelEvent {
    serde_json::from_value(json!({"event": name, "data": data})).unwrap()
}

#[tokio::test]
async fn turns_that_move_resume_or_break_off_are_traces_too() {
    let collector = Collector::that_says("200 OK");
    let spans = Arc::new(Spans::new(&config(&collector.endpoint), "tester").unwrap());
    let request = json!({"provider": "p", "model": "m", "attempt": 1, "messages": 1, "shared": 0});
    let question = || event("provider:request", &request);
    let answer = json!({"provider": "p", "model": "m", "usage": {}, "stop_reason": "done"});
    let usage = json!({"input": 1, "output": 1, "cached": 0});
    let ran = json!({"orchestrator": "forklore", "status": "success", "session_id": "new",
        "turn_count": 1, "tool_calls": 0, "usage": usage});
    // Another runtime takes over the session: the turn continues in a fork.
    tell(&spans, "old", None, event("prompt:submit", &json!({"prompt": "go"})));
    tell(&spans, "old", None, question());
    let lost = json!({"reason": "lease_lost", "kind": "branch", "label": "new"});
    tell(&spans, "new", Some("old"), event("session:fork", &lost));
    tell(&spans, "new", Some("old"), event("provider:response", &answer));
    tell(&spans, "new", Some("old"), event("orchestrator:complete", &ran));
    // A turn is resumed, and then has no end, as if the process had been killed.
    tell(&spans, "new", Some("old"), question());
    // The history is compacted between turns.
    let part = json!({"reason": "asked", "from_index": 0, "to_index": 2, "tokens": 9});
    tell(&spans, "third", None, event("context:pre_compact", &part));
    tell(&spans, "third", None, question());
    let done = json!({"reason": "asked", "from_index": 0, "to_index": 2, "strategy": "s",
        "tokens_before": 9, "tokens_after": 1});
    tell(&spans, "third", None, event("context:post_compact", &done));
    // Notifications without an open span are ignored.
    let result = json!({"tool_call_id": "x", "tool_name": "t", "result": "r", "is_error": false});
    tell(&spans, "fourth", None, event("tool:post", &result));
    tell(&spans, "fourth", None, event("orchestrator:complete", &ran));
    assert!(spans.end().await);
    assert_spans("moved_resumed_broken_off", &collector);
}
