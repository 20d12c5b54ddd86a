//! The standing index of a store: its answers are those of a graph that is built anew, and it reads
//! only what changed.

mod damage;
mod kill;
mod property;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use forklore_core::workspace::Workspace;
use forklore_core::{ErrorKind, EventType};
use forklore_engine::{Engine, Fork};
use forklore_files::FilesStore;
use forklore_graph::{Answer, Answered, Query, Scope, Sessions, term};
use forklore_sqlite::SqliteStore;
use serde_json::json;

use crate::family::{self, assistant, id, quads, say, user};

const QUADS: &str = "SELECT ?s ?p ?o ?g { GRAPH ?g { ?s ?p ?o } }";

/// The kinds of stores that have a place for an index.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Sqlite,
    Files,
}

const KINDS: [Kind; 2] = [Kind::Sqlite, Kind::Files];

impl Kind {
    fn store(self, folder: &Path) -> PathBuf {
        match self {
            Self::Sqlite => folder.join("sessions.db"),
            Self::Files => folder.join("sessions"),
        }
    }

    fn cache(self, folder: &Path) -> PathBuf {
        match self {
            Self::Sqlite => folder.join("sessions.db-cache"),
            Self::Files => folder.join("sessions/cache"),
        }
    }

    fn open(self, folder: &Path) -> Engine {
        let path = self.store(folder);
        match self {
            Self::Sqlite => {
                Engine::new(Arc::new(SqliteStore::open(&path, Default::default()).unwrap()))
            }
            Self::Files => {
                Engine::new(Arc::new(FilesStore::open(&path, Default::default()).unwrap()))
            }
        }
    }
}

fn query(text: &str) -> Query<'_> {
    let timeout = Duration::from_secs(3_600);
    Query { text, parameters: Vec::new(), limit: usize::MAX, timeout }
}

fn answered(engine: &Engine, scope: &Scope, text: &str) -> Answered {
    Sessions::of(engine).answer(scope, &query(text)).unwrap()
}

/// Returns the rows of an answer, each as one text, sorted.
fn rows(answer: Answer) -> Vec<String> {
    let Answer::Rows { rows, .. } = answer else { panic!("it selects") };
    let mut rows: Vec<_> = rows
        .into_iter()
        .map(|row| {
            let cells =
                row.into_iter().map(|cell| cell.map_or_else(String::new, |t| t.to_string()));
            cells.collect::<Vec<_>>().join(" ")
        })
        .collect();
    rows.sort();
    rows
}

/// Checks that the index contains the quads of a graph that is built anew. Returns how many sessions
/// were read to bring the index up to date.
fn assert_in_step(engine: &Engine, scope: &Scope) -> u64 {
    let Answered { answer, sessions, .. } = answered(engine, scope, QUADS);
    let mut anew: Vec<_> = quads(engine, scope).iter().map(ToString::to_string).collect();
    anew.sort();
    let rows = rows(answer);
    let other: Vec<_> = rows.iter().filter(|row| anew.binary_search(row).is_err()).collect();
    let missing: Vec<_> = anew.iter().filter(|row| rows.binary_search(row).is_err()).collect();
    assert_eq!((other, missing, rows.len()), (Vec::new(), Vec::new(), anew.len()));
    sessions
}

#[test]
fn a_principal_of_whom_no_session_is_left_is_forgotten() {
    for kind in KINDS {
        let folder = tempfile::tempdir().unwrap();
        let engine = family::clocked(kind.open(folder.path()));
        for (session, principal) in [("a", "Ada"), ("b", "Bo"), ("c", "Bo")] {
            family::create_for(&engine, session, principal);
        }
        assert_in_step(&engine, &Scope::Everything);
        for session in ["a", "b", "c"] {
            family::erase(&engine, session);
            assert_in_step(&engine, &Scope::Everything);
        }
        let Answered { answer, .. } = answered(&engine, &Scope::Everything, QUADS);
        let names =
            rows(answer).iter().filter(|row| row.contains("urn:forklore:principal")).count();
        assert_eq!(names, 0);
    }
}

#[test]
fn the_index_follows_every_change() {
    for kind in KINDS {
        let folder = tempfile::tempdir().unwrap();
        let engine = family::clocked(kind.open(folder.path()));
        assert_eq!(assert_in_step(&engine, &Scope::Everything), 0);
        family::grow(&engine);
        let all = assert_in_step(&engine, &Scope::Everything);
        assert_eq!(all, 8, "{kind:?}");
        assert_eq!(assert_in_step(&engine, &Scope::Everything), 0);
        // The result of a call comes after an update of the index that contains the call.
        let call = json!({"id": "late", "name": "shell", "arguments": {}});
        say(&engine, "demo-a-2", EventType::TOOL_CALL, &call);
        assert_eq!(assert_in_step(&engine, &Scope::Everything), 1);
        let result = json!({"call_id": "late", "content": "x"});
        say(&engine, "demo-a-2", EventType::TOOL_RESULT, &result);
        assert_eq!(assert_in_step(&engine, &Scope::Everything), 1);
        engine.label(&id("demo-a"), &"renamed".parse().unwrap()).unwrap();
        assert_eq!(assert_in_step(&engine, &Scope::Everything), 1);
        engine.detach(&id("demo-d")).unwrap();
        assert_in_step(&engine, &Scope::Everything);
        user(&engine, "other", "not that family");
        assert_eq!(assert_in_step(&engine, &Scope::Everything), 1);
        family::erase(&engine, "other");
        assert_eq!(assert_in_step(&engine, &Scope::Everything), 1);
        let fork = Fork { id: Some(id("late")), ..Fork::of(id("demo-d")) };
        engine.fork(&fork).unwrap();
        assert_eq!(assert_in_step(&engine, &Scope::Everything), 1);
        assert!(kind.cache(folder.path()).join("graph.db").exists());
    }
}

#[test]
fn a_question_reads_only_the_families_it_is_about() {
    for kind in KINDS {
        let folder = tempfile::tempdir().unwrap();
        let engine = family::clocked(kind.open(folder.path()));
        family::grow(&engine);
        let family = Scope::Family(id("demo-a"));
        let other = Scope::Workspace(Workspace::new("/home/ann/other"));
        assert_eq!(assert_in_step(&engine, &other), 1);
        assert_eq!(assert_in_step(&engine, &family), 7);
        user(&engine, "other", "not that family");
        assert_eq!(assert_in_step(&engine, &family), 0);
        assert_eq!(assert_in_step(&engine, &other), 1);
        assert_eq!(assert_in_step(&engine, &Scope::Everything), 0);
    }
}

#[test]
fn every_way_to_ask_finds_the_same_as_in_a_graph_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let engine = family::clocked(Kind::Sqlite.open(folder.path()));
    family::grow(&engine);
    // A family of another folder, with the same principal as one of the first.
    let create = forklore_engine::Create {
        id: Some(id("third")),
        principal: Some("Bo".into()),
        ..forklore_engine::Create::in_workspace(Workspace::new("/home/ann/other"))
    };
    engine.create(&create).unwrap();
    assistant(&engine, "third", "winnow");
    let texts = [
        "SELECT ?s { ?s a fl:Message }",
        "SELECT ?s ?o { ?s fl:text ?o }",
        "SELECT ?s ?p { ?s ?p \"winnow\" }",
        "SELECT ?s ?p { ?s ?p <urn:forklore:session:demo> }",
        "SELECT ?p ?o { <urn:forklore:session:demo-a> ?p ?o }",
        "SELECT ?p { <urn:forklore:session:demo-a> ?p <urn:forklore:session:demo> }",
        "SELECT ?s { ?s fl:family <urn:forklore:session:demo> }",
        "SELECT ?a ?b { ?a prov:wasDerivedFrom+ ?b }",
        "SELECT ?a ?b { ?a prov:wasDerivedFrom* ?b }",
        "SELECT ?a ?b { ?a !(fl:text|fl:data) ?b }",
        "SELECT DISTINCT ?g { GRAPH ?g { } }",
        "SELECT ?g ?s { GRAPH ?g { ?s fl:name ?n } }",
        "SELECT ?s { GRAPH <urn:forklore:session:demo-a> { ?s a fl:Message } }",
        "SELECT ?s ?t FROM <urn:forklore:session:demo-a> { ?s fl:text ?t }",
        "SELECT ?s ?t FROM <urn:forklore:session:other> { ?s fl:branch ?t }",
        "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }",
        "SELECT ?o (COUNT(?s) AS ?n) { ?s a ?o } GROUP BY ?o",
        "SELECT (SUM(?c) AS ?n) (MAX(?t) AS ?m) { ?s fl:cost ?c OPTIONAL { ?s fl:seq ?t } }",
        "SELECT ?x { BIND(1 + 1 AS ?x) FILTER NOT EXISTS { ?s fl:seq ?x } }",
        "SELECT ?s { ?s fl:index ?i FILTER(?i > 1 && ?i < 3) }",
        "SELECT ?s { ?s prov:startedAtTime ?t FILTER(?t > \"2026-01-01T00:10:00Z\"^^xsd:dateTime) }",
        "SELECT ?s { ?s fl:tool ?t FILTER(STRLEN(?t) = 5) }",
        "SELECT ?s { VALUES ?s { <urn:forklore:session:demo> <urn:nothing> } ?s a fl:Session }",
        "SELECT ?s { ?s a fl:Session MINUS { ?s fl:parentSession ?p } }",
    ];
    let scopes = [
        Scope::Everything,
        Scope::Family(id("demo")),
        Scope::Workspace(Workspace::new("/home/ann/other")),
    ];
    for scope in &scopes {
        let quads = forklore_graph::Projection::new(&engine, scope).unwrap();
        let graph = forklore_graph::Graph::of(quads).unwrap();
        for text in texts {
            let expected = rows(graph.answer(&query(text)).unwrap());
            assert_eq!(rows(answered(&engine, scope, text).answer), expected, "{scope:?}: {text}");
        }
        let mut word = query("SELECT ?s { ?s fl:text ?word }");
        word.parameters = vec![("word".to_owned(), term("winnow").unwrap())];
        let found = Sessions::of(&engine).answer(scope, &word).unwrap().answer;
        assert_eq!(rows(found), rows(graph.answer(&word).unwrap()));
        for text in ["DESCRIBE <urn:forklore:session:demo>", "CONSTRUCT WHERE { ?a fl:kind ?b }"] {
            let triples = |answer| match answer {
                Answer::Triples { triples, .. } => {
                    let mut all: Vec<_> = triples.iter().map(ToString::to_string).collect();
                    all.sort();
                    all
                }
                other => panic!("{other:?}"),
            };
            let expected = triples(graph.answer(&query(text)).unwrap());
            assert_eq!(triples(answered(&engine, scope, text).answer), expected, "{text}");
        }
    }
}

#[test]
fn pages_of_any_length_are_read_to_their_end() {
    let folder = tempfile::tempdir().unwrap();
    let engine = family::clocked(Kind::Sqlite.open(folder.path()));
    let root = forklore_engine::Create {
        id: Some(id("long")),
        ..forklore_engine::Create::in_workspace(Workspace::new("/home/ann/demo"))
    };
    engine.create(&root).unwrap();
    let turns = |at| forklore_engine::NewEvent::user(&format!("question {at}")).unwrap();
    let events: Vec<_> = (0..3_000).map(turns).collect();
    engine.append(&id("long"), &events.into()).unwrap();
    assert_in_step(&engine, &Scope::Everything);
    for (text, count) in [
        ("SELECT ?s { ?s a fl:Message }", 3_000),
        ("SELECT ?s { ?s fl:role \"user\" }", 3_000),
        ("SELECT ?s ?o { ?s fl:text ?o }", 3_000),
        ("SELECT ?s { GRAPH <urn:forklore:session:long> { ?s fl:role \"user\" } }", 3_000),
    ] {
        for scope in [Scope::Everything, Scope::Family(id("long"))] {
            assert_eq!(rows(answered(&engine, &scope, text).answer).len(), count, "{text}");
        }
    }
}

#[test]
fn a_missing_session_is_an_error_as_without_an_index() {
    let folder = tempfile::tempdir().unwrap();
    let engine = family::clocked(Kind::Files.open(folder.path()));
    family::grow(&engine);
    let error = |scope: &Scope| {
        let error = Sessions::of(&engine).answer(scope, &query("ASK {}")).unwrap_err();
        (error.kind(), error.to_string())
    };
    assert_eq!(error(&Scope::Family(id("nobody"))).0, ErrorKind::NotFound);
    let workspaces = Kind::Files.store(folder.path()).join("workspaces");
    for workspace in std::fs::read_dir(workspaces).unwrap() {
        let _ = std::fs::remove_file(workspace.unwrap().path().join("demo-a.jsonl"));
    }
    let engine = Kind::Files.open(folder.path());
    let error = |scope: &Scope| {
        let error = Sessions::of(&engine).answer(scope, &query("ASK {}")).unwrap_err();
        (error.kind(), error.to_string())
    };
    for scope in [Scope::Everything, Scope::Family(id("demo"))] {
        let (kind, message) = error(&scope);
        assert_eq!(kind, ErrorKind::MissingAncestor, "{message}");
        assert!(message.ends_with("its parent demo-a"), "{message}");
    }
    // Another family is whole.
    let other = Scope::Workspace(Workspace::new("/home/ann/other"));
    assert_eq!(rows(answered(&engine, &other, "SELECT ?s { ?s a fl:Session }").answer).len(), 1);
}
