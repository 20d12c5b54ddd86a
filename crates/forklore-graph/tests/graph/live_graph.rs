//! The graph of a graph store includes all changes of its journal, whichever process writes them.

use std::path::Path;
use std::sync::Arc;

use forklore_core::workspace::Workspace;
use forklore_core::{ErrorKind, EventType, Header};
use forklore_engine::{Create, Delete, DeleteMode, Engine, Fork, NewEvent, Undelete};
use forklore_graph::{Graph, GraphStore, Projection, Scope};
use forklore_store::Store;
use forklore_store::memory::MemoryStore;
use forklore_store::port::{At, Direction, Filter, LogEntry, Query};
use serde_json::json;

use crate::family::{self, assistant, id, over, quads, say, user};

fn open(folder: &Path) -> Arc<GraphStore> {
    Arc::new(GraphStore::open(&folder.join("store"), None, &[]).unwrap())
}

fn engine(store: &Arc<GraphStore>) -> Engine {
    family::clocked(Engine::new(store.clone()))
}

fn statements(graph: &Graph) -> Vec<String> {
    let mut output: Vec<_> = graph.quads().map(|quad| quad.unwrap().to_string()).collect();
    output.sort();
    output
}

/// Checks that the store's graph equals a newly built one.
fn assert_in_step(store: &Arc<GraphStore>, engine: &Engine) {
    let mut anew: Vec<_> =
        quads(engine, &Scope::Everything).iter().map(ToString::to_string).collect();
    anew.sort();
    assert_eq!(statements(&store.graph().unwrap()), anew);
}

#[test]
fn the_graph_stands_and_follows_every_change() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let engine = engine(&store);
    assert!(store.graph().unwrap().is_empty().unwrap());
    family::grow(&engine);
    assert_in_step(&store, &engine);
    // The result of a call comes after an update of the graph that contains the call.
    let call = json!({"id": "late", "name": "shell", "arguments": {}});
    say(&engine, "demo-a-2", EventType::TOOL_CALL, &call);
    assert_in_step(&store, &engine);
    say(&engine, "demo-a-2", EventType::TOOL_RESULT, &json!({"call_id": "late", "content": "x"}));
    assert_in_step(&store, &engine);
    engine.label(&id("demo-a"), &"renamed".parse().unwrap()).unwrap();
    assert_in_step(&store, &engine);
    engine.detach(&id("demo-d")).unwrap();
    assert_in_step(&store, &engine);
    user(&engine, "other", "not that family");
    assert_in_step(&store, &engine);
    family::erase(&engine, "other");
    assert_in_step(&store, &engine);
}

#[test]
fn a_principal_of_whom_no_session_is_left_is_forgotten() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let engine = engine(&store);
    for (session, principal) in [("a", "Ada"), ("b", "Bo"), ("c", "Bo")] {
        family::create_for(&engine, session, principal);
    }
    assert_in_step(&store, &engine);
    for session in ["a", "b", "c"] {
        family::erase(&engine, session);
        assert_in_step(&store, &engine);
    }
    let about = statements(&store.graph().unwrap());
    assert_eq!(about.iter().filter(|line| line.contains("urn:forklore:principal")).count(), 0);
}

#[test]
fn the_graph_follows_into_the_trash_and_back() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let engine = engine(&store);
    family::grow(&engine);
    let whole = store.graph().unwrap().len().unwrap();
    let session = id("demo-a");
    let delete = |erase| {
        let (session, mode) = (session.clone(), DeleteMode::DetachChildren);
        engine.delete(&Delete { session, mode, dry_run: false, erase }).unwrap();
        assert_in_step(&store, &engine);
    };
    delete(false);
    assert!(store.graph().unwrap().len().unwrap() < whole);
    engine.undelete(&Undelete { session: session.clone(), cascade: true }).unwrap();
    assert_in_step(&store, &engine);
    assert_eq!(store.graph().unwrap().len().unwrap(), whole);
    delete(false);
    delete(true);
}

#[test]
fn what_another_handle_wrote_is_projected_too() {
    let folder = tempfile::tempdir().unwrap();
    let (store, other) = (open(folder.path()), open(folder.path()));
    assert!(store.graph().unwrap().is_empty().unwrap());
    family::grow(&engine(&other));
    assert_in_step(&store, &engine(&store));
    assistant(&engine(&other), "other", "once more");
    assert_in_step(&store, &engine(&store));
    drop((store, other));
    let again = open(folder.path());
    assert_in_step(&again, &engine(&again));
}

#[test]
fn a_question_looks_at_no_session_that_was_not_written_to_since() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let engine = engine(&store);
    family::grow(&engine);
    user(&engine, "other", "not that family");
    let before = store.graph().unwrap().len().unwrap();
    // The session `other` is damaged, so every read of it fails now.
    let damaged = file_of(&folder.path().join("store/journal/workspaces"), "other.jsonl");
    std::fs::write(&damaged, "no line").unwrap();
    assert!(engine.show(&id("other")).is_err());
    assert_eq!(store.graph().unwrap().len().unwrap(), before);
    user(&engine, "demo-a", "once more");
    assert!(store.graph().unwrap().len().unwrap() > before);
}

fn file_of(folder: &Path, name: &str) -> std::path::PathBuf {
    let folders = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files = folders.map(|folder| folder.join(name));
    files.find(|file| file.exists()).unwrap()
}

#[test]
fn a_fork_of_five_thousand_turns_adds_its_own_triples_only() {
    let mut added = Vec::new();
    for turns in [5, 5_000] {
        let folder = tempfile::tempdir().unwrap();
        let store = open(folder.path());
        let engine = engine(&store);
        let mut create = Create::in_workspace(Workspace::new("/home/ann/demo"));
        create.id = Some(id("long"));
        engine.create(&create).unwrap();
        let turn = |at| {
            let question = NewEvent::user(&format!("question {at}")).unwrap();
            [question, NewEvent::assistant("answer").unwrap()]
        };
        let events: Vec<_> = (0..turns).flat_map(turn).collect();
        engine.append(&id("long"), &events.into()).unwrap();
        let before = store.graph().unwrap().len().unwrap();
        let mut fork = Fork::of(id("long"));
        fork.id = Some(id("child"));
        engine.fork(&fork).unwrap();
        assistant(&engine, "child", "another answer");
        added.push(store.graph().unwrap().len().unwrap() - before);
    }
    assert_eq!(added[0], added[1]);
}

fn everything(store: &dyn Store) -> Vec<(Header, Vec<LogEntry>)> {
    let all = Filter { deleted: true, ..Filter::default() };
    let headers = store.sessions(&all, None, 0).unwrap().all().unwrap();
    let query = Query { at: At::Seq(0), direction: Direction::Forward, limit: 10_000, bare: false };
    let log = |header: &Header| match header.deleted {
        Some(_) => Vec::new(),
        None => store.read(&header.id, &query).unwrap().events,
    };
    let logs: Vec<_> = headers.iter().map(log).collect();
    let mut all: Vec<_> = headers.into_iter().zip(logs).collect();
    // Only the original store counts the bytes of the erased events of a deleted session.
    for (header, _) in all.iter_mut().filter(|(header, _)| header.deleted.is_some()) {
        header.own_bytes = 0;
    }
    all
}

fn assert_same(have: &[(Header, Vec<LogEntry>)], want: &[(Header, Vec<LogEntry>)]) {
    assert_eq!(have.len(), want.len());
    for ((header, log), (wanted, wanted_log)) in have.iter().zip(want) {
        assert_eq!(header, wanted);
        assert_eq!(log, wanted_log, "{}", header.id);
    }
}

#[test]
fn a_family_moved_through_the_graph_store_is_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let from = over(MemoryStore::default());
    family::grow(&from);
    let before = everything(from.store());
    let store = open(folder.path());
    let through = engine(&store);
    assert_eq!(from.recover(&through).unwrap().lost, []);
    assert_same(&everything(through.store()), &before);
    assert_in_step(&store, &through);
    let back = over(MemoryStore::default());
    assert_eq!(through.recover(&back).unwrap().lost, []);
    assert_same(&everything(back.store()), &before);
    assert_eq!(
        quads(&back, &Scope::Everything),
        quads(&from, &Scope::Everything),
        "the graphs are the same too"
    );
}

/// Returns the path of a session's file in the journal.
fn journal(folder: &Path, session: &str) -> std::path::PathBuf {
    let workspaces = folder.join("store/journal/workspaces");
    let folders = std::fs::read_dir(workspaces).unwrap().map(|entry| entry.unwrap().path());
    let file = |folder: std::path::PathBuf| folder.join(format!("{session}.jsonl"));
    folders.map(file).find(|file| file.exists()).unwrap()
}

#[test]
fn a_torn_journal_loses_only_what_was_not_acknowledged() {
    use std::io::Write;

    let folder = tempfile::tempdir().unwrap();
    family::grow(&engine(&open(folder.path())));
    let before = statements(&open(folder.path()).graph().unwrap());
    let mut file = std::fs::File::options().append(true).open(journal(folder.path(), "other"));
    file.as_mut().unwrap().write_all(b"{\"id\":\"torn\",\"session_id\":\"oth").unwrap();
    let store = open(folder.path());
    assert_eq!(statements(&store.graph().unwrap()), before);
    assert_eq!(store.verify(None).unwrap().problems, []);
    user(&engine(&store), "other", "behind the torn line");
    assert_in_step(&store, &engine(&store));
    assert_eq!(store.verify(None).unwrap().problems, []);
}

#[test]
fn a_vanished_parent_is_named_and_never_a_shorter_history() {
    // Some of these parents have no event that a living session needs. Their loss is an error too.
    for (parent, child) in [("demo", "demo-a"), ("demo-a", "demo-a-2"), ("demo-b", "helper")] {
        let folder = tempfile::tempdir().unwrap();
        family::grow(&engine(&open(folder.path())));
        std::fs::remove_file(journal(folder.path(), parent)).unwrap();
        let store = open(folder.path());
        let problems = store.verify(None).unwrap().problems;
        let named = |session: &str| problems.iter().any(|one| one.session_id == Some(id(session)));
        assert!(named(parent) && named(child), "{problems:?}");
        let errors = [
            store.graph().err().map(|error| (error.kind(), error.to_string())).unwrap(),
            Projection::new(&engine(&store), &Scope::Everything)
                .err()
                .map(|error| (error.kind(), error.to_string()))
                .unwrap(),
        ];
        for (kind, message) in errors {
            assert_eq!(kind, ErrorKind::MissingAncestor, "{message}");
            assert!(message.ends_with(&format!("its parent {parent}")), "{message}");
        }
    }
}

#[test]
fn a_circle_of_parents_made_by_hand_ends_and_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let made = open(folder.path());
    let mut root = Create::in_workspace(Workspace::new("/home/ann/demo"));
    root.id = Some(id("r"));
    engine(&made).create(&root).unwrap();
    user(&engine(&made), "r", "q");
    for (parent, child) in [("r", "a"), ("a", "b")] {
        let mut fork = Fork::of(id(parent));
        fork.id = Some(id(child));
        engine(&made).fork(&fork).unwrap();
    }
    drop(made);
    let file = journal(folder.path(), "a");
    let text = std::fs::read_to_string(&file).unwrap();
    let (first, rest) = text.split_once('\n').unwrap();
    let fields = first.split(",\"crc\":").next().unwrap();
    let bent = fields.replacen("\"parent_id\":\"r\"", "\"parent_id\":\"b\"", 1);
    assert_ne!(bent, fields);
    let sum = crc32fast::hash(bent.as_bytes());
    std::fs::write(&file, format!("{bent},\"crc\":\"{sum:08x}\"}}\n{rest}")).unwrap();
    let store = open(folder.path());
    let problems = store.verify(None).unwrap().problems;
    assert!(problems.iter().any(|one| one.kind == ErrorKind::LineageCycle), "{problems:?}");
    let graph = store.graph().unwrap();
    let circle = forklore_graph::Query {
        text: "SELECT ?session { ?session fl:parentSession+ ?session } ORDER BY ?session",
        parameters: Vec::new(),
        limit: 10,
        timeout: std::time::Duration::from_secs(3_600),
    };
    let forklore_graph::Answer::Rows { rows, .. } = graph.answer(&circle).unwrap() else {
        panic!("it selects")
    };
    let found: Vec<_> = rows.iter().map(|row| row[0].as_ref().unwrap().to_string()).collect();
    assert_eq!(found, ["<urn:forklore:session:a>", "<urn:forklore:session:b>"]);
}
