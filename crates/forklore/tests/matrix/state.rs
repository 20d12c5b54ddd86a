//! The states of a session in which every verb is tried.

use forklore::api::{Batch, Delete, DeleteMode};
use forklore::core::workspace::Workspace;
use forklore::core::{Data, EventType, SessionId, SessionKind, Strategy};
use forklore::engine::{Create, Fork, NewEvent, Summarize};
use forklore::import::{ImportOptions, Importer};
use serde_json::json;

use crate::test_store::{Kind, TestStore};

/// A state of a session, such as "a running root", and how a test brings a session into it.
pub(crate) struct State {
    pub(crate) name: &'static str,
    /// Whether the state needs a store on a disk, because a session's data is removed from the
    /// disk.
    pub(crate) needs_disk: bool,
    /// Creates a session in this state in a new store, and returns the session's id.
    pub(crate) build: fn(&TestStore) -> SessionId,
}

impl State {
    const fn new(name: &'static str, build: fn(&TestStore) -> SessionId) -> Self {
        Self { name, needs_disk: false, build }
    }

    const fn damaged(name: &'static str, build: fn(&TestStore) -> SessionId) -> Self {
        Self { name, needs_disk: true, build }
    }

    pub(crate) fn exists_on(&self, kind: Kind) -> bool {
        !self.needs_disk || kind != Kind::Memory
    }
}

/// All states. The snapshot of a verb has one line for each.
pub(crate) const STATES: &[State] = &[
    State::new("a root", |store| root(store, CONVERSATION)),
    State::new("an empty root", |store| root(store, "")),
    State::new("a root with an open call", |store| root(store, "u1 c:x")),
    State::new("a compacted root", |store| root(store, "u1 a1 u2 a2 k:0-2 u3 a3")),
    State::new("a root with a branch and a delegate", |store| {
        let root = root(store, CONVERSATION);
        fork(store, &Fork { id: Some(id("other")), ..Fork::of(root.clone()) });
        delegate(store, "helper");
        root
    }),
    State::new("a running root", |store| {
        let root = root(store, CONVERSATION);
        store.engine.take_lease(&root, "someone else").unwrap();
        root
    }),
    State::new("a branch", branch),
    State::new("a running branch", |store| {
        let branch = branch(store);
        store.engine.take_lease(&branch, "someone else").unwrap();
        branch
    }),
    State::new("a branch of a running root", |store| {
        let branch = branch(store);
        store.engine.take_lease(&id("root"), "someone else").unwrap();
        branch
    }),
    State::new("a branch of a branch", |store| {
        branch(store);
        write(store, "branch", "u8 c:z");
        fork(store, &Fork { id: Some(id("twig")), ..Fork::of(id("branch")) });
        write(store, "twig", "u9");
        id("twig")
    }),
    State::new("a branch with a summary", |store| {
        let root = root(store, CONVERSATION);
        let summarize = Some(Summarize::Deterministic);
        fork(store, &Fork { id: Some(id("branch")), summarize, ..Fork::of(root) });
        id("branch")
    }),
    State::new("a copied branch", copied),
    State::new("a detached branch", detached),
    State::new("a delegate", |store| {
        root(store, CONVERSATION);
        delegate(store, "branch")
    }),
    State::new("a branch of a deleted root", |store| {
        let branch = branch(store);
        delete(store, "root", DeleteMode::DetachChildren);
        branch
    }),
    State::new("a copied branch of a deleted root", |store| {
        let copy = copied(store);
        delete(store, "root", DeleteMode::DetachChildren);
        copy
    }),
    State::new("a deleted root", |store| {
        branch(store);
        delete(store, "root", DeleteMode::DetachChildren);
        id("root")
    }),
    State::new("a root in the trash", |store| {
        branch(store);
        trash(store, "root");
        id("root")
    }),
    State::new("a branch of a root in the trash", |store| {
        let branch = branch(store);
        trash(store, "root");
        branch
    }),
    State::new("an unknown session", |store| {
        root(store, CONVERSATION);
        id("nobody")
    }),
    State::new("an imported session", imported),
    State::new("a branch of an imported session", |store| {
        let parent = imported(store);
        fork(store, &Fork { id: Some(id("branch")), ..Fork::of(parent) });
        write(store, "branch", "u8");
        id("branch")
    }),
    State::damaged("a root that vanished", |store| {
        branch(store);
        store.vanish(&id("root"));
        id("root")
    }),
    State::damaged("a branch of a vanished root", |store| {
        let branch = branch(store);
        store.vanish(&id("root"));
        branch
    }),
    State::damaged("a copied branch of a vanished root", |store| {
        let copy = copied(store);
        store.vanish(&id("root"));
        copy
    }),
    State::damaged("a detached branch of a vanished root", |store| {
        let branch = detached(store);
        store.vanish(&id("root"));
        branch
    }),
    State::damaged("a delegate of a vanished root", |store| {
        root(store, CONVERSATION);
        let delegate = delegate(store, "branch");
        store.vanish(&id("root"));
        delegate
    }),
];

/// The script of two turns, the first with a tool call and its result. [`write`] describes the
/// words.
const CONVERSATION: &str = "u1 c:x r:x a1 $ u2 a2";

pub(crate) fn id(text: &str) -> SessionId {
    text.parse().unwrap()
}

fn root(store: &TestStore, script: &str) -> SessionId {
    let create = Create { id: Some(id("root")), ..Create::in_workspace(Workspace::new("/demo")) };
    store.engine.create(&create).unwrap();
    write(store, "root", script);
    id("root")
}

/// Creates a root, and a branch of it with the cut after the root's first turn. Returns the branch.
fn branch(store: &TestStore) -> SessionId {
    branch_as(store, Strategy::ShareV1)
}

fn copied(store: &TestStore) -> SessionId {
    branch_as(store, Strategy::ReplayV1)
}

fn detached(store: &TestStore) -> SessionId {
    let branch = branch(store);
    store.engine.detach(&branch).unwrap();
    branch
}

fn branch_as(store: &TestStore, strategy: Strategy) -> SessionId {
    let root = root(store, CONVERSATION);
    let at = Some("turn:1".parse().unwrap());
    fork(store, &Fork { id: Some(id("branch")), at, strategy, ..Fork::of(root) });
    write(store, "branch", "u7 a7");
    id("branch")
}

fn delegate(store: &TestStore, name: &str) -> SessionId {
    let kind = SessionKind::Delegate;
    fork(store, &Fork { id: Some(id(name)), kind, ..Fork::of(id("root")) });
    write(store, name, "u5 a5");
    id(name)
}

fn fork(store: &TestStore, fork: &Fork) {
    store.engine.fork(fork).unwrap();
}

fn delete(store: &TestStore, session: &str, mode: DeleteMode) {
    let delete = Delete { session: id(session), mode, dry_run: false, erase: true };
    store.engine.delete(&delete).unwrap();
}

fn trash(store: &TestStore, session: &str) {
    let mode = DeleteMode::DetachChildren;
    let delete = Delete { session: id(session), mode, dry_run: false, erase: false };
    store.engine.delete(&delete).unwrap();
}

/// Imports a file that the agent Pi wrote, and returns the file's session.
fn imported(store: &TestStore) -> SessionId {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/pi/demo.jsonl");
    let options = ImportOptions::in_workspace(Workspace::new("/demo"));
    let report = Importer::new(&store.engine).import(&[file.into()], &options, &mut |_| {});
    report.unwrap().sessions.first().unwrap().session_id.clone()
}

/// Appends the events of a script. Each word is one event: `u1` is a user message, `a1` an
/// assistant message, `c:x` a tool call, `r:x` its result, `$` the usage of a model call, and
/// `k:0-2` a compaction of the indexes from 0 up to, but not including, 2.
fn write(store: &TestStore, session: &str, script: &str) {
    let events: Vec<_> = script.split_whitespace().map(event).collect();
    if !events.is_empty() {
        store.engine.append(&id(session), &Batch::from(events)).unwrap();
    }
}

pub(crate) fn event(word: &str) -> NewEvent {
    let (kind, data) = match word.split_at(1) {
        ("u", _) => (EventType::USER_MESSAGE, json!({"content": word})),
        ("a", _) => (EventType::ASSISTANT_MESSAGE, json!({"content": word})),
        ("c", call) => (EventType::TOOL_CALL, json!({"id": call, "name": "read"})),
        ("r", call) => (EventType::TOOL_RESULT, json!({"call_id": call, "content": "done"})),
        ("$", _) => (EventType::PROVIDER_USAGE, json!({"input": 10, "output": 2, "cost": 0.5})),
        ("k", range) => {
            let (from, to) = range[1..].split_once('-').unwrap();
            let number = |text: &str| text.parse::<u64>().unwrap();
            let data = json!({"from_index": number(from), "to_index": number(to), "content": "k"});
            (EventType::HISTORY_COMPACTION, data)
        }
        _ => panic!("no such word: {word}"),
    };
    NewEvent::new(kind, Data::of(&data).unwrap())
}
