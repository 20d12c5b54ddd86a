//! Stores with sessions to search, and a search without an index to compare with.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use forklore_api::{Hit, Search, SearchAnswer};
use forklore_core::workspace::Workspace;
use forklore_core::{Content, Data, EventType, Part, SessionId};
use forklore_engine::{Clock, Create, Delete, DeleteMode, Engine, Fork, NewEvent, Undelete};
use forklore_files::FilesStore;
use forklore_formats::AGENT_FORMATS;
use forklore_search::SearchIndex;
use forklore_sqlite::SqliteStore;
use forklore_store::memory::MemoryStore;
use forklore_store::port::{At, Filter};
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Memory,
    Sqlite,
    Files,
}

pub(crate) const KINDS: [Kind; 3] = [Kind::Memory, Kind::Sqlite, Kind::Files];

impl Kind {
    pub(crate) fn store(self, folder: &Path) -> PathBuf {
        folder.join(if self == Self::Files { "sessions" } else { "sessions.db" })
    }

    pub(crate) fn cache(self, folder: &Path) -> PathBuf {
        folder.join(if self == Self::Files { "sessions/cache" } else { "sessions.db-cache" })
    }

    pub(crate) fn open(self, folder: &Path) -> Engine {
        let path = self.store(folder);
        let engine = match self {
            Self::Memory => Engine::new(Arc::new(MemoryStore::default())),
            Self::Sqlite => {
                Engine::new(Arc::new(SqliteStore::open(&path, Default::default()).unwrap()))
            }
            Self::Files => {
                Engine::new(Arc::new(FilesStore::open(&path, Default::default()).unwrap()))
            }
        };
        engine.with_agent_formats(AGENT_FORMATS).with_clock(Arc::new(Minutes::default()))
    }
}

pub(crate) fn id(text: &str) -> SessionId {
    text.parse().unwrap()
}

pub(crate) fn create(engine: &Engine, session: &str, folder: &str) {
    let create = Create { id: Some(id(session)), ..Create::in_workspace(Workspace::new(folder)) };
    engine.create(&create).unwrap();
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

pub(crate) fn fork(engine: &Engine, parent: &str, at: &str, child: &str) {
    let fork = Fork {
        id: Some(id(child)),
        label: Some(format!("label-{child}").parse().unwrap()),
        ..Fork::of(id(parent)).at(at.parse().unwrap())
    };
    engine.fork(&fork).unwrap();
}

pub(crate) fn delete(engine: &Engine, session: &str, mode: DeleteMode) {
    let delete = Delete { session: id(session), mode, dry_run: false, erase: false };
    engine.delete(&delete).unwrap();
}

pub(crate) fn undelete(engine: &Engine, session: &str) {
    engine.undelete(&Undelete { session: id(session), cascade: false }).unwrap();
}

pub(crate) fn search(engine: &Engine, query: &str) -> SearchAnswer {
    SearchIndex::of(engine).search(&Search { limit: 0, ..Search::of(query) }).unwrap()
}

/// Describes a hit: its position, and the sessions that have it.
pub(crate) fn line(hit: &Hit) -> String {
    let position = hit.seq.map_or_else(|| hit.kind.as_str().to_owned(), |seq| seq.to_string());
    let branches: Vec<_> = hit.branches.iter().map(|branch| branch.session_id.as_str()).collect();
    format!("{}:{position} in {}", hit.session_id, branches.join(" "))
}

/// Returns the hits of a query, sorted.
pub(crate) fn lines(engine: &Engine, query: &str) -> Vec<String> {
    let mut lines: Vec<_> = search(engine, query).hits.iter().map(line).collect();
    lines.sort();
    lines
}

/// The sessions that have an event in their history, by the id of the event.
type Found = BTreeMap<String, BTreeSet<String>>;

/// Returns the hits of messages that an index finds.
pub(crate) fn found(engine: &Engine, query: &str) -> Found {
    let answer = search(engine, query);
    assert!(!answer.more && answer.problems.is_empty(), "{:?}", answer.problems);
    let mut found = Found::new();
    for hit in answer.hits {
        let Some(event) = hit.event_id.clone() else { continue };
        assert_eq!(hit.branches.len() as u64, hit.branch_count);
        let page = engine.events(&hit.session_id, At::Seq(hit.seq.unwrap())).next();
        let shown = page.unwrap().unwrap();
        assert_eq!(shown.event.id, event, "the hit is at its seq");
        assert!(!hit.snippet.highlights.is_empty(), "{hit:?}");
        let branches = hit.branches.iter().map(|branch| branch.session_id.to_string());
        let twice = found.insert(event.to_string(), branches.collect());
        assert_eq!(twice, None, "an event is one hit");
    }
    found
}

/// Returns the hits of messages, from reading every history. `words` are whole words in ASCII.
pub(crate) fn scanned(engine: &Engine, words: &[&str]) -> Found {
    let mut found = Found::new();
    let sessions = engine.store().sessions(&Filter::default(), None, 0).unwrap().sound;
    for header in sessions {
        for stored in engine.events(&header.id, At::Seq(0)) {
            let event = stored.unwrap().event;
            let messages = match engine.summary_messages(&event) {
                Some(messages) => messages,
                None if event.class.is_conversation() => vec![engine.message(&event)],
                None => continue,
            };
            let texts = messages.into_iter().map(|message| match message.content {
                Content::Text(text) => text,
                Content::Parts(parts) => parts.iter().map(text_of).collect::<Vec<_>>().join(" "),
            });
            let text = texts.collect::<Vec<_>>().join(" ");
            let text = text.to_lowercase();
            let has: BTreeSet<_> = text.split(|c: char| !c.is_alphanumeric()).collect();
            if words.iter().all(|word| has.contains(word)) {
                found.entry(event.id.to_string()).or_default().insert(header.id.to_string());
            }
        }
    }
    found
}

fn text_of(part: &Part) -> String {
    match part {
        Part::Text { text } | Part::Reasoning { text, .. } => text.clone(),
        Part::ToolCall { name, arguments, .. } => format!("{name} {}", arguments.get()),
        Part::ToolResult { content, .. } => content.get().to_owned(),
        Part::Attachment { .. } | Part::Other { .. } => String::new(),
    }
}
