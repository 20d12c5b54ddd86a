//! A store with sessions, and a client of a server over it.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use forklore_core::workspace::Workspace;
use forklore_core::{Data, EventType, SessionId};
use forklore_engine::{Clock, Create, Engine, NewEvent};
use forklore_mcp::{ANSWER_CHARS, Allow, McpServer, Options};
use forklore_store::clock::StoreClock;
use forklore_store::memory::MemoryStore;
use jiff::Timestamp;
use rmcp::model::{CallToolRequestParams, CallToolResult, ContentBlock};
use rmcp::service::RunningService;
use rmcp::{RoleClient, ServiceExt};
use serde_json::{Value, json};

/// The folder of the sessions, and of the server.
pub(crate) const FOLDER: &str = "/work/demo";

/// A clock that advances by a second each time it is read.
#[derive(Default)]
struct Steps(AtomicU64);

impl Clock for Steps {
    fn now(&self) -> Timestamp {
        let seconds = i64::try_from(self.0.fetch_add(1, Ordering::Relaxed)).unwrap();
        Timestamp::from_second(1_760_000_000 + seconds).unwrap()
    }

    fn random(&self) -> [u8; 10] {
        let mut random = [0; 10];
        random[2..].copy_from_slice(&self.0.fetch_add(1, Ordering::Relaxed).to_be_bytes());
        random
    }
}

pub(crate) fn engine() -> Engine {
    let clock = Arc::new(Steps::default());
    let of_store = Arc::clone(&clock);
    let clock_of_store = StoreClock::new(move || of_store.now());
    let store = Arc::new(MemoryStore::default().with_clock(clock_of_store));
    Engine::new(store).with_clock(clock)
}

pub(crate) fn id(text: &str) -> SessionId {
    text.parse().unwrap()
}

/// Creates a session in a folder.
pub(crate) fn session(engine: &Engine, name: &str, title: &str, folder: &str) -> SessionId {
    let create = Create {
        id: Some(id(name)),
        title: Some(title.to_owned()),
        ..Create::in_workspace(Workspace::new(folder))
    };
    engine.create(&create).unwrap().id
}

pub(crate) fn say(engine: &Engine, session: &SessionId, text: &str) {
    engine.append(session, &NewEvent::user(text).unwrap().into()).unwrap();
}

pub(crate) fn reply(engine: &Engine, session: &SessionId, text: &str) {
    engine.append(session, &NewEvent::assistant(text).unwrap().into()).unwrap();
}

pub(crate) fn event(engine: &Engine, session: &SessionId, kind: EventType, data: &Value) {
    let event = NewEvent::new(kind, Data::of(data).unwrap());
    engine.append(session, &event.into()).unwrap();
}

/// Creates the session `plan-1`: two turns, with an edit of `src/http.rs`.
pub(crate) fn with_a_plan() -> Engine {
    let engine = engine();
    let plan = session(&engine, "plan-1", "Plan the release", FOLDER);
    say(&engine, &plan, "Which parser: nom or winnow?");
    let path = format!("{FOLDER}/src/http.rs");
    let edit = json!({ "file_path": path, "old_string": "nom", "new_string": "winnow" });
    let call = json!({ "id": "call-1", "name": "Edit", "arguments": edit });
    event(&engine, &plan, EventType::TOOL_CALL, &call);
    let result = json!({ "call_id": "call-1", "content": "done" });
    event(&engine, &plan, EventType::TOOL_RESULT, &result);
    reply(&engine, &plan, "winnow, because its errors are better");
    say(&engine, &plan, "Then release it");
    reply(&engine, &plan, "Released as 0.2.0");
    engine
}

/// A client of a server.
pub(crate) struct Client(pub(crate) RunningService<RoleClient, ()>);

/// Connects a client to a server that allows these verbs.
pub(crate) async fn client(engine: &Engine, allow: &[Allow]) -> Client {
    let options = Options {
        allow: allow.iter().copied().collect::<BTreeSet<_>>(),
        workspace: Some(Workspace::new(FOLDER)),
        store: None,
    };
    connect(McpServer::new(engine.clone(), options)).await
}

pub(crate) async fn connect(server: McpServer) -> Client {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    tokio::spawn(async move { server.serve(theirs).await.unwrap().waiting().await });
    Client(().serve(ours).await.unwrap())
}

impl Client {
    /// Calls a tool, and returns its result as it is.
    pub(crate) async fn called(&self, tool: &'static str, input: &Value) -> CallToolResult {
        let params = CallToolRequestParams::new(tool);
        let params = params.with_arguments(input.as_object().unwrap().clone());
        self.0.call_tool(params).await.unwrap()
    }

    /// Calls a tool that must succeed. Checks that both forms of the answer are the same, and short
    /// enough.
    pub(crate) async fn answer(&self, tool: &'static str, input: Value) -> Value {
        let result = self.called(tool, &input).await;
        let text = text(&result);
        assert_ne!(result.is_error, Some(true), "{tool} {input}: {text}");
        assert!(text.chars().count() <= ANSWER_CHARS, "{tool}: {}", text.chars().count());
        let answer = result.structured_content.unwrap();
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), answer);
        answer
    }

    /// Calls a tool that must fail, and returns the error.
    pub(crate) async fn refusal(&self, tool: &'static str, input: Value) -> Value {
        let result = self.called(tool, &input).await;
        let text = text(&result);
        assert_eq!(result.is_error, Some(true), "{tool} {input}: {text}");
        serde_json::from_str::<Value>(&text).unwrap()["error"].take()
    }
}

fn text(result: &CallToolResult) -> String {
    let [ContentBlock::Text(text)] = result.content.as_slice() else {
        panic!("not one text: {result:?}")
    };
    text.text.clone()
}
