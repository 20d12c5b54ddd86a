//! A family of sessions that covers everything for which the queries in `docs/graph.md` ask.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use forklore_core::workspace::Workspace;
use forklore_core::{Data, EventType, SessionId, SessionKind, ToolCallPolicy};
use forklore_engine::{Clock, Create, Delete, DeleteMode, Engine, Fork, NewEvent};
use forklore_graph::terms::Quad;
use forklore_graph::{Graph, Projection, Scope};
use forklore_store::Store;
use forklore_store::memory::MemoryStore;
use jiff::Timestamp;
use serde_json::{Value, json};

/// A clock that advances by a minute whenever it is read.
#[derive(Default)]
struct Minutes(AtomicI64);

impl Clock for Minutes {
    fn now(&self) -> Timestamp {
        let minutes = self.0.fetch_add(1, Ordering::Relaxed);
        Timestamp::from_second(1_767_225_600 + 60 * minutes).unwrap()
    }

    fn random(&self) -> [u8; 10] {
        [0; 10]
    }
}

pub(crate) fn id(text: &str) -> SessionId {
    text.parse().unwrap()
}

pub(crate) fn clocked(engine: Engine) -> Engine {
    engine.with_clock(Arc::new(Minutes::default()))
}

pub(crate) fn over(store: impl Store + 'static) -> Engine {
    clocked(Engine::new(Arc::new(store)))
}

pub(crate) fn say(engine: &Engine, session: &str, kind: EventType, data: &Value) {
    let head = engine.show(&id(session)).unwrap().head_seq();
    let mut event = NewEvent::new(kind, Data::of(data).unwrap());
    event.id = Some(format!("{session}-{}", head + 1).parse().unwrap());
    engine.append(&id(session), &event.into()).unwrap();
}

pub(crate) fn user(engine: &Engine, session: &str, text: &str) {
    say(engine, session, EventType::USER_MESSAGE, &json!({"content": text}));
}

pub(crate) fn assistant(engine: &Engine, session: &str, text: &str) {
    say(engine, session, EventType::ASSISTANT_MESSAGE, &json!({"content": text}));
}

fn call(engine: &Engine, session: &str, call: &str, tool: &str) {
    let data = json!({"id": call, "name": tool, "arguments": {"path": "Cargo.toml"}});
    say(engine, session, EventType::TOOL_CALL, &data);
}

fn result(engine: &Engine, session: &str, call: &str, content: &str, failed: bool) {
    let data = json!({"call_id": call, "content": content, "is_error": failed});
    say(engine, session, EventType::TOOL_RESULT, &data);
}

fn cost(engine: &Engine, session: &str, tokens: u64, cost: f64) {
    let data = json!({"input": tokens, "output": 10, "cost": cost, "model": "small"});
    say(engine, session, EventType::PROVIDER_USAGE, &data);
}

fn fork(engine: &Engine, parent: &str, at: &str, child: &str, label: &str) {
    let mut fork = Fork::of(id(parent)).at(at.parse().unwrap());
    fork.id = Some(id(child));
    fork.label = Some(label.parse().unwrap());
    fork.tool_calls = ToolCallPolicy::Verbatim;
    if label == "plan-b" {
        fork.principal = Some("Bo".into());
    }
    engine.fork(&fork).unwrap();
}

/// Creates a session on behalf of a principal.
pub(crate) fn create_for(engine: &Engine, session: &str, principal: &str) {
    let mut create = Create::in_workspace(Workspace::new("/home/ann/demo"));
    create.id = Some(id(session));
    create.principal = Some(principal.into());
    engine.create(&create).unwrap();
}

pub(crate) fn erase(engine: &Engine, session: &str) {
    let mode = DeleteMode::Refuse;
    engine.delete(&Delete { session: id(session), mode, dry_run: false, erase: true }).unwrap();
}

/// Creates the family, a deleted session, and a session of another family.
pub(crate) fn grow(engine: &Engine) {
    let mut root = Create::in_workspace(Workspace::new("/home/ann/demo"));
    root.id = Some(id("demo"));
    root.title = Some("which parser?".into());
    root.principal = Some("did:web:ann.example".into());
    engine.create(&root).unwrap();
    user(engine, "demo", "compare nom and winnow");
    call(engine, "demo", "c1", "read_file");
    result(engine, "demo", "c1", "[dependencies]", false);
    assistant(engine, "demo", "both would do");
    cost(engine, "demo", 100, 0.25);
    user(engine, "demo", "then decide");
    assistant(engine, "demo", "winnow");
    fork(engine, "demo", "turn:1", "demo-a", "plan-a");
    user(engine, "demo-a", "let us take winnow");
    call(engine, "demo-a", "c1", "shell");
    fork(engine, "demo-a", "end", "demo-a-2", "plan-a-2");
    result(engine, "demo-a", "c1", "exit status 101", true);
    cost(engine, "demo-a", 300, 0.5);
    result(engine, "demo-a-2", "c1", "it builds", false);
    call(engine, "demo-a-2", "c2", "shell");
    fork(engine, "demo", "turn:1", "demo-b", "plan-b");
    user(engine, "demo-b", "let us take nom");
    call(engine, "demo-b", "c9", "shell");
    result(engine, "demo-b", "c9", "exit status 1", true);
    let mut helper = Fork::of(id("demo-b"));
    helper.kind = SessionKind::Delegate;
    helper.id = Some(id("helper"));
    helper.label = Some("helper".parse().unwrap());
    engine.fork(&helper).unwrap();
    user(engine, "helper", "read the documentation of nom");
    // `demo-c` is deleted below. Its events remain, because its child `demo-d` needs them.
    fork(engine, "demo-b", "end", "demo-c", "plan-c");
    user(engine, "demo-c", "go on without tools");
    fork(engine, "demo-c", "end", "demo-d", "plan-d");
    assistant(engine, "demo-d", "here it is");
    engine
        .delete(&Delete {
            session: id("demo-c"),
            mode: DeleteMode::DetachChildren,
            dry_run: false,
            erase: true,
        })
        .unwrap();
    let mut other = Create::in_workspace(Workspace::new("/home/ann/other"));
    other.id = Some(id("other"));
    engine.create(&other).unwrap();
    cost(engine, "other", 7, 0.125);
}

pub(crate) fn grown() -> Engine {
    let engine = over(MemoryStore::default());
    grow(&engine);
    engine
}

pub(crate) fn quads(engine: &Engine, scope: &Scope) -> Vec<Quad> {
    Projection::new(engine, scope).unwrap().flat_map(Result::unwrap).collect()
}

pub(crate) fn graph(engine: &Engine) -> Graph {
    Graph::of(Projection::new(engine, &Scope::Everything).unwrap()).unwrap()
}
