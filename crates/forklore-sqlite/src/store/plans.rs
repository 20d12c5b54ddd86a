//! Tests that no SQL statement of a fork or an append scans a table. The cost of a fork or an
//! append therefore does not grow with the store (docs/semantics.md, Fork).

use std::sync::{Arc, Mutex};

use forklore_conformance::events::turns;
use forklore_conformance::{Handle, Scene};
use forklore_store::port::{Cursor, Filter, Store};
use rusqlite::StatementStatus;
use rusqlite::trace::{StmtRef, TraceEvent, TraceEventCodes};

use super::mutex::lock;
use super::{Options, SqliteStore};

/// An SQL statement that ran, with three of SQLite's counters: steps of full scans, sorts, and rows
/// inserted into automatic indexes.
type Ran = (String, [i32; 3]);

fn cost(statement: &StmtRef<'_>) -> Ran {
    let status = [StatementStatus::FullscanStep, StatementStatus::Sort, StatementStatus::AutoIndex];
    (statement.sql().into_owned(), status.map(|status| statement.get_status(status)))
}

/// Starts to record the statements that run on a connection. Returns the list to which it adds each
/// statement.
fn watch(conn: &mut rusqlite::Connection) -> Arc<Mutex<Vec<Ran>>> {
    let ran = Arc::new(Mutex::new(Vec::new()));
    let notes = ran.clone();
    let note = move |event: TraceEvent<'_>| {
        if let TraceEvent::Profile(statement, _) = event {
            notes.lock().unwrap().push(cost(&statement));
        }
    };
    let codes = TraceEventCodes::SQLITE_TRACE_PROFILE;
    conn.trace_v2(codes, Some(note)).unwrap();
    ran
}

#[test]
fn a_fork_and_an_append_scan_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.db");
    let store = Arc::new(SqliteStore::open(&path, Options::default()).unwrap());
    let factory = || Handle::shared(store.clone());
    let scene = Scene::new(&factory);
    scene.root("s0", turns(40));
    for depth in 1..60 {
        scene.fork(&format!("s{}", depth - 1), &format!("s{depth}"), 3 + depth, turns(1));
    }
    let ran = watch(lock(&store.writer).connection().unwrap());
    // Cuts at the end of the parent, inside its own events, in an ancestry page far back, and at
    // the start.
    for (child, stored) in [("end", 62), ("own", 61), ("far", 5), ("start", 0)] {
        scene.fork("s59", child, stored, turns(1));
    }
    scene.append("end", turns(1));
    let ran = ran.lock().unwrap();
    assert!(ran.iter().any(|(sql, _)| sql.contains("FROM ancestry_page")), "no page was read");
    assert!(ran.len() > 60, "only {} statements were seen", ran.len());
    for (sql, counts) in &*ran {
        assert_eq!(*counts, [0; 3], "scans, sorts or builds an index: {sql}");
    }
}

#[test]
fn a_short_list_of_many_sessions_reads_few_of_them() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.db");
    let store = Arc::new(SqliteStore::open(&path, Options::default()).unwrap());
    let factory = || Handle::shared(store.clone());
    let scene = Scene::new(&factory);
    for n in 0..300 {
        scene.root(&format!("s{n}"), vec![]);
        scene.append(&format!("s{n}"), turns(1));
    }
    let ran = store.readers.with_first(watch);
    let filter = Filter::default();
    let listed = store.sessions(&filter, None, 20).unwrap().sound;
    let ids: Vec<_> = listed.iter().map(|header| header.id.to_string()).collect();
    let newest: Vec<_> = (280..300).rev().map(|n| format!("s{n}")).collect();
    assert_eq!(ids, newest);
    let behind = Cursor::behind(&listed[19]);
    assert_eq!(store.sessions(&filter, Some(&behind), 1).unwrap().sound[0].id.as_str(), "s279");
    let ran = ran.lock().unwrap();
    let (sql, [steps, sorts, indexes]) = &ran[1];
    assert!(sql.contains("FROM session s"), "{sql}");
    assert!((20..30).contains(steps), "{steps} rows for 20");
    assert_eq!((*sorts, *indexes), (0, 0));
}
