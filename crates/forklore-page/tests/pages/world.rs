//! Sessions in memory, and their pages.

use std::sync::Arc;

use forklore_core::workspace::Workspace;
use forklore_core::{Data, Selector};
use forklore_engine::{Attach, Batch, Create, Engine, Fork, NewEvent};
use forklore_page::Format;
use forklore_store::memory::MemoryStore;
use serde_json::{Value, json};

pub(crate) struct World {
    pub(crate) engine: Engine,
}

impl World {
    /// Creates a store with the session `main`.
    pub(crate) fn new(title: &str) -> Self {
        let engine = Engine::new(Arc::new(MemoryStore::default()));
        let mut create = Create::in_workspace(Workspace::new("/demo"));
        create.id = Some("main".parse().unwrap());
        create.title = Some(title.to_owned());
        engine.create(&create).unwrap();
        Self { engine }
    }

    pub(crate) fn append(&self, session: &str, kind: &str, data: &Value) {
        let event = NewEvent::new(kind.parse().unwrap(), Data::of(data).unwrap());
        self.engine.append(&session.parse().unwrap(), &Batch::from(vec![event])).unwrap();
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

    /// Forks `main` at a cut.
    pub(crate) fn fork(&self, child: &str, at: &str) {
        let fork = Fork {
            id: Some(child.parse().unwrap()),
            label: Some(child.parse().unwrap()),
            ..Fork::of("main".parse().unwrap()).at(at.parse().unwrap())
        };
        self.engine.fork(&fork).unwrap();
    }

    /// Returns the page of a session, and the number of messages on it.
    pub(crate) fn page(&self, session: &str, format: Format, at: Option<&str>) -> (String, u64) {
        let at: Option<Selector> = at.map(|at| at.parse().unwrap());
        let mut out = Vec::new();
        let session = session.parse().unwrap();
        let exported =
            forklore_page::write(&self.engine, &session, format, at.as_ref(), &mut out).unwrap();
        (String::from_utf8(out).unwrap(), exported.events)
    }
}

/// Returns the smallest PNG: one pixel.
pub(crate) fn png() -> Vec<u8> {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.decode(PNG).unwrap()
}

pub(crate) const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
