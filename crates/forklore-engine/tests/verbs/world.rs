//! A store with a test clock. The sessions in it are written from one-line scripts.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use forklore_core::workspace::Workspace;
use forklore_core::{AttachmentId, Class, Data, ErrorKind, Header, Selector, SessionId};
use forklore_engine::{Batch, Clock, Create, Engine, Error, Fork, Forked, NewEvent};
use forklore_files::FilesStore;
use forklore_sqlite::{Options, SqliteStore};
use forklore_store::Store;
use forklore_store::clock::StoreClock;
use forklore_store::memory::MemoryStore;
use forklore_store::port::LogEntry;
use jiff::Timestamp;
use serde_json::json;

pub(crate) use crate::stores::on_every_store;

/// A clock that advances only on request. A counter replaces its random bits.
#[derive(Default)]
pub(crate) struct TestClock {
    seconds: AtomicU64,
    drawn: AtomicU64,
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        let seconds = i64::try_from(self.seconds.load(Ordering::Relaxed)).unwrap();
        Timestamp::from_second(1_760_000_000 + seconds).unwrap()
    }

    fn random(&self) -> [u8; 10] {
        let mut random = [0; 10];
        let drawn = self.drawn.fetch_add(1, Ordering::Relaxed);
        random[2..].copy_from_slice(&drawn.to_be_bytes());
        random
    }
}

impl TestClock {
    /// Returns a clock with the same time, for a store.
    pub(crate) fn of_store(self: &Arc<Self>) -> StoreClock {
        let clock = self.clone();
        StoreClock::new(move || clock.now())
    }
}

/// An engine over a store that no other test uses.
pub(crate) struct World {
    pub(crate) engine: Engine,
    pub(crate) clock: Arc<TestClock>,
    // The directory is removed when the world is dropped.
    dir: Option<tempfile::TempDir>,
    memory: Option<Arc<MemoryStore>>,
}

pub(crate) fn id(text: &str) -> SessionId {
    text.parse().unwrap()
}

pub(crate) fn cut(text: &str) -> Selector {
    text.parse().unwrap()
}

impl World {
    pub(crate) fn memory() -> Self {
        let clock = Arc::new(TestClock::default());
        let store = Arc::new(MemoryStore::default().with_clock(clock.of_store()));
        Self { memory: Some(store.clone()), ..Self::over(store, clock, None) }
    }

    pub(crate) fn sqlite() -> Self {
        let (clock, dir) = (Arc::new(TestClock::default()), tempfile::tempdir().unwrap());
        let store = SqliteStore::open(&dir.path().join("store.db"), Options::default()).unwrap();
        Self::over(Arc::new(store.with_clock(clock.of_store())), clock, Some(dir))
    }

    pub(crate) fn files() -> Self {
        let (clock, dir) = (Arc::new(TestClock::default()), tempfile::tempdir().unwrap());
        let store = FilesStore::open(&dir.path().join("store"), Default::default()).unwrap();
        Self::over(Arc::new(store.with_clock(clock.of_store())), clock, Some(dir))
    }

    pub(crate) fn over(
        store: Arc<dyn Store>,
        clock: Arc<TestClock>,
        dir: Option<tempfile::TempDir>,
    ) -> Self {
        let engine = Engine::new(store).with_clock(clock.clone());
        Self { engine, clock, dir, memory: None }
    }

    /// Returns the store of [`World::memory`].
    pub(crate) fn into_memory(self) -> MemoryStore {
        let Self { engine, memory, .. } = self;
        drop(engine);
        Arc::into_inner(memory.unwrap()).unwrap()
    }

    /// Removes everything that the store has of a session, as a damaged disk may do. (Events in
    /// SQLite outlive the header of their session.)
    pub(crate) fn lose(&self, name: &str) {
        if let Some(memory) = &self.memory {
            return memory.lose(&id(name));
        }
        let dir = self.dir.as_ref().unwrap().path();
        if dir.join("store.db").exists() {
            let database = rusqlite::Connection::open(dir.join("store.db")).unwrap();
            let removed = database.execute("DELETE FROM session WHERE id = ?", [name]);
            assert_eq!(removed, Ok(1));
        } else {
            // A graph store has its sessions in a files store, its journal.
            let folders = ["store/journal/workspaces", "store/workspaces"];
            let folder = folders.map(|name| dir.join(name)).into_iter().find(|it| it.exists());
            for workspace in std::fs::read_dir(folder.unwrap()).unwrap() {
                let file = workspace.unwrap().path().join(format!("{name}.jsonl"));
                std::fs::remove_file(file).unwrap();
            }
        }
    }

    /// Returns the path of the file with an attachment's bytes; `None` for the memory store.
    pub(crate) fn file_of(&self, id: &AttachmentId) -> Option<PathBuf> {
        let dir = self.dir.as_ref()?.path();
        let folders = ["store.db-attachments", "store/attachments", "store/journal/attachments"];
        let folders = folders.map(|name| dir.join(name));
        let folder = folders.into_iter().find(|folder| folder.exists())?;
        let hex = id.hex();
        Some(folder.join(&hex[..2]).join(&hex[2..]))
    }

    /// Advances the clock by this number of seconds.
    pub(crate) fn pass(&self, seconds: u64) {
        self.clock.seconds.fetch_add(seconds, Ordering::Relaxed);
    }

    /// Creates a root and appends the events of `script` (see [`events`]).
    pub(crate) fn session(&self, name: &str, script: &str) -> SessionId {
        let create = Create { id: Some(id(name)), ..Create::in_workspace(Workspace::new("/demo")) };
        self.engine.create(&create).unwrap();
        self.write(name, script);
        id(name)
    }

    /// Appends the events of `script` to the session (see [`events`]).
    pub(crate) fn write(&self, name: &str, script: &str) {
        let events = events(script);
        if !events.is_empty() {
            self.engine.append(&id(name), &Batch::from(events)).unwrap();
        }
    }

    pub(crate) fn try_fork(&self, parent: &str, at: &str, child: &str) -> Result<Forked, Error> {
        let at = (!at.is_empty()).then(|| cut(at));
        self.engine.fork(&Fork { at, id: Some(id(child)), ..Fork::of(id(parent)) })
    }

    pub(crate) fn fork(&self, parent: &str, at: &str, child: &str) -> Forked {
        self.try_fork(parent, at, child).unwrap()
    }

    pub(crate) fn header(&self, name: &str) -> Header {
        self.engine.show(&id(name)).unwrap()
    }

    pub(crate) fn log(&self, name: &str) -> Vec<LogEntry> {
        self.engine.load(&id(name)).unwrap().events
    }

    /// Returns the assembled history as a script (see [`events`]).
    pub(crate) fn shape(&self, name: &str) -> String {
        let words = self.log(name).into_iter().map(|stored| {
            let field = |key: &str| {
                let data: serde_json::Value = stored.event.data.read().unwrap();
                data[key].as_str().unwrap_or_default().to_owned()
            };
            match stored.event.kind.as_str() {
                "tool_result" => format!("r:{}", field("call_id")),
                "tool_call" => format!("c:{}", field("id")),
                other => word_of(other, &field("content")),
            }
        });
        words.collect::<Vec<_>>().join(" ")
    }

    /// Returns the whole log of a session as `log` prints it. A fork must not change its parent's
    /// log.
    pub(crate) fn printed(&self, name: &str) -> String {
        let mut out = Vec::new();
        self.engine.log(&id(name), forklore_engine::LogRange::default(), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }
}

/// Returns the kind and the reason of an expected error.
pub(crate) fn refusal<T: std::fmt::Debug>(result: Result<T, Error>) -> (ErrorKind, String) {
    let error = result.expect_err("it should have been refused");
    let reason = error.details()["reason"].as_str().unwrap_or_default().to_owned();
    (error.kind(), reason)
}

fn word_of(kind: &str, content: &str) -> String {
    match kind {
        "user_message" | "assistant_message" | "system_message" if !content.is_empty() => {
            content.to_owned()
        }
        "session_fork" => "F".into(),
        "workflow_event" => "w".into(),
        "provider_usage" => "$".into(),
        "turn_failed" => "!".into(),
        "history_compaction" => "k".into(),
        "branch_summary" => "S".into(),
        "assistant_message" => "c".into(),
        other => other.into(),
    }
}

/// Parses events from words that are separated by spaces:
///
/// - `u1`, `a1`, `s1`, `i1`: a user, assistant, system or injected message with this text
/// - `c:X`, `r:X`: a call with the id X of `tool_X`, and its result
/// - `w`: a workflow event
/// - `$`: model usage
/// - `!`: a failed turn
/// - `k:0-2`: a compaction of these indexes, the end exclusive
/// - `x:CLASS`: an extension event of this class
pub(crate) fn events(script: &str) -> Vec<NewEvent> {
    script.split_whitespace().map(event).collect()
}

fn event(word: &str) -> NewEvent {
    let new = |kind: &str, data: serde_json::Value| {
        NewEvent::new(kind.parse().unwrap(), Data::of(&data).unwrap())
    };
    let argument = word.split_once(':').map_or("", |(_, argument)| argument);
    match word.as_bytes()[0] {
        b'u' => new("user_message", json!({"content": word})),
        b'a' => new("assistant_message", json!({"content": word})),
        b's' => new("system_message", json!({"content": word})),
        b'i' => new("user_message", json!({"content": word, "injected": true})),
        b'c' => new("tool_call", json!({"id": argument, "name": format!("tool_{argument}")})),
        b'r' => new("tool_result", json!({"call_id": argument, "content": "done"})),
        b'w' => new("workflow_event", json!({"name": "w"})),
        b'$' => new("provider_usage", json!({"input": 10, "output": 2, "cost": 0.5})),
        b'!' => new("turn_failed", json!({"error": "overloaded"})),
        b'k' => {
            let (from, to) = argument.split_once('-').unwrap();
            let (from, to): (u64, u64) = (from.parse().unwrap(), to.parse().unwrap());
            new(
                "history_compaction",
                json!({"from_index": from, "to_index": to, "content": "short"}),
            )
        }
        b'x' => {
            let class: Class = serde_json::from_value(json!(argument)).unwrap();
            NewEvent { class: Some(class), ..new("x.note", json!({"n": 1})) }
        }
        _ => panic!("no such word: {word}"),
    }
}
