//! Sessions in memory at a fixed time, and requests to their pages.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use axum::{Extension, Router};
use forklore_core::workspace::Workspace;
use forklore_core::{Data, Header};
use forklore_engine::{Attach, Batch, Clock, Create, Engine, Fork, NewEvent};
use forklore_store::memory::MemoryStore;
use forklore_web::{Pages, Rights, router};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tower::ServiceExt;

/// The smallest PNG: one pixel.
pub(crate) const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

/// A clock that stands still, and ids that count.
#[derive(Default)]
struct Still(AtomicU64);

impl Clock for Still {
    fn now(&self) -> jiff::Timestamp {
        "2026-01-02T03:04:05Z".parse().unwrap()
    }

    fn random(&self) -> [u8; 10] {
        let mut bytes = [0; 10];
        bytes[2..].copy_from_slice(&self.0.fetch_add(1, Ordering::Relaxed).to_be_bytes());
        bytes
    }
}

/// The answer to a request.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: header::HeaderMap,
    pub(crate) bytes: Vec<u8>,
}

impl Answer {
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.bytes.clone()).unwrap()
    }

    pub(crate) fn header(&self, name: header::HeaderName) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

pub(crate) struct World {
    pub(crate) engine: Engine,
    router: Router,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::of(Engine::new(Arc::new(MemoryStore::default())))
    }

    pub(crate) fn of(engine: Engine) -> Self {
        let engine = engine.with_clock(Arc::new(Still::default()));
        let router = router(Pages::new(engine.clone()));
        Self { engine, router }
    }

    /// A world whose pages have more than the sessions, for a caller who may do this.
    pub(crate) fn with(
        engine: Engine,
        pages: impl FnOnce(Pages) -> Pages,
        may_write: bool,
    ) -> Self {
        let engine = engine.with_clock(Arc::new(Still::default()));
        let router = router(pages(Pages::new(engine.clone())));
        Self { engine, router: router.layer(Extension(Rights { may_write })) }
    }

    /// A world whose clock is that of the machine.
    pub(crate) fn in_time() -> Self {
        let engine = Engine::new(Arc::new(MemoryStore::default()));
        let router = router(Pages::new(engine.clone()));
        Self { engine, router }
    }

    /// Creates a session in the folder `/work/demo`.
    pub(crate) fn create(&self, id: &str, title: Option<&str>) -> Header {
        self.create_in(id, title, "/work/demo")
    }

    pub(crate) fn create_in(&self, id: &str, title: Option<&str>, folder: &str) -> Header {
        let mut create = Create::in_workspace(Workspace::new(folder));
        create.id = Some(id.parse().unwrap());
        create.title = title.map(str::to_owned);
        self.engine.create(&create).unwrap()
    }

    pub(crate) fn append(&self, session: &str, kind: &str, data: &Value) {
        self.append_all(session, &[(kind, data.clone())]);
    }

    pub(crate) fn append_all(&self, session: &str, events: &[(&str, Value)]) {
        let new = |(kind, data): &(&str, Value)| {
            NewEvent::new(kind.parse().unwrap(), Data::of(data).unwrap())
        };
        let events: Vec<_> = events.iter().map(new).collect();
        self.engine.append(&session.parse().unwrap(), &Batch::from(events)).unwrap();
    }

    pub(crate) fn user(&self, session: &str, text: &str) {
        self.append(session, "user_message", &json!({ "content": text }));
    }

    /// Appends a message of the assistant with these parts.
    pub(crate) fn says(&self, session: &str, parts: &Value) {
        self.append(session, "assistant_message", &json!({ "content": parts }));
    }

    /// Appends the result of a call.
    pub(crate) fn result(&self, session: &str, call: &str, content: &Value, is_error: bool) {
        let data = json!({"call_id": call, "content": content, "is_error": is_error});
        self.append(session, "tool_result", &data);
    }

    pub(crate) fn attach(&self, session: &str, name: &str, media_type: &str, bytes: &[u8]) {
        let request = Attach {
            name: Some(name.to_owned()),
            media_type: media_type.to_owned(),
            text: Some("Look at this.".to_owned()),
            ..Attach::default()
        };
        self.engine.attach(&session.parse().unwrap(), &mut &*bytes, &request).unwrap();
    }

    pub(crate) fn fork(&self, parent: &str, child: &str, at: &str) {
        let fork = Fork {
            id: Some(child.parse().unwrap()),
            label: Some(child.parse().unwrap()),
            ..Fork::of(parent.parse().unwrap()).at(at.parse().unwrap())
        };
        self.engine.fork(&fork).unwrap();
    }

    pub(crate) fn get(&self, address: &str) -> Answer {
        self.answer(Request::get(address).body(Body::empty()).unwrap())
    }

    pub(crate) fn post(&self, address: &str, form: &str) -> Answer {
        let request = Request::post(address)
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(Body::from(form.to_owned()));
        self.answer(request.unwrap())
    }

    fn answer(&self, request: Request<Body>) -> Answer {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let router = self.router.clone();
        runtime.block_on(async move {
            let (parts, body) = router.oneshot(request).await.unwrap().into_parts();
            let bytes = body.collect().await.unwrap().to_bytes().to_vec();
            Answer { status: parts.status, headers: parts.headers, bytes }
        })
    }

    /// Returns the page at an address, which must exist.
    pub(crate) fn page(&self, address: &str) -> String {
        let answer = self.get(address);
        assert_eq!(answer.status, StatusCode::OK, "{address}: {}", answer.text());
        answer.text()
    }
}

/// A family with everything that pages show: `main` with two branches, a call with its result, an
/// edit, thinking, an image, a file, a compaction and usage.
pub(crate) fn family() -> World {
    family_in(World::new())
}

/// Creates the same family in a world.
pub(crate) fn family_in(world: World) -> World {
    world.create("main", Some("Plan the release"));
    world.user("main", "plan A or plan B?");
    let edit =
        json!({"file_path": "/work/demo/notes.md", "old_string": "old", "new_string": "new"});
    let parts = json!([
        {"type": "reasoning", "text": "B is *longer*."},
        {"type": "text", "text": "Let me **look**:\n\n- one\n- [two](https://example.org)"},
        {"type": "tool_call", "id": "1", "name": "Bash", "arguments": {"command": "ls -la"}},
        {"type": "tool_call", "id": "2", "name": "Edit", "arguments": edit},
    ]);
    world.says("main", &parts);
    world.result("main", "1", &json!("notes.md\nplan.md"), false);
    world.result("main", "2", &json!("no such text"), true);
    world.says("main", &json!([{"type": "text", "text": "Plan A."}]));
    world.append(
        "main",
        "provider_usage",
        &json!({
            "model": "demo-1", "input_tokens": 1200, "output_tokens": 300, "cached_tokens": 600,
            "cost": 0.25,
        }),
    );
    world.user("main", "and now?");
    let image = json!({"type": "image", "name": "shot.png", "source":
        {"type": "base64", "media_type": "image/png", "data": PNG}});
    world.says("main", &json!([{"type": "text", "text": "See:"}, image]));
    world.append(
        "main",
        "history_compaction",
        &json!({
            "from_index": 0, "to_index": 3, "content": "The plan was discussed."
        }),
    );
    world.attach("main", "log.txt", "text/plain", b"all is well");
    world.fork("main", "plan-b", "turn:1");
    world.user("plan-b", "let us take B");
    world.says("plan-b", &json!([{"type": "text", "text": "Good: B."}]));
    world.fork("plan-b", "plan-c", "message:-1");
    world
}
