//! Tests of chunks: damage in a chunk, events that are never sealed, and stores from versions
//! without chunks.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use forklore_conformance::Scene;
use forklore_conformance::events::{turns, user};
use forklore_core::{ErrorKind, SessionId, Strategy};
use forklore_sqlite::{Checkpoints, Options, SqliteStore};
use forklore_store::Error;
use forklore_store::port::{At, Children, Direction, Filter, LogEntry, Query, Store};
use rusqlite::params;

use crate::scratch::{Scratch, handle};

fn query(from: u64, limit: usize) -> Query {
    Query { at: At::Seq(from), direction: Direction::Forward, limit, bare: false }
}

fn id(text: &str) -> SessionId {
    text.parse().unwrap()
}

/// Creates a store with a root `a` of 140 events, 128 of which are sealed. Runs `damage` on the
/// database, and then `check`.
fn damaged(damage: impl FnOnce(&rusqlite::Connection), check: impl FnOnce(&Scene<'_>)) {
    let scratch = Scratch::new();
    let store = scratch.open();
    let make = || handle(&store);
    let scene = Scene::new(&make);
    scene.root("a", turns(70));
    let conn = scratch.sqlite();
    let sealed = "SELECT count(*), sum(positions) FROM chunk";
    let sealed: (i64, i64) =
        conn.query_row(sealed, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    assert_eq!(sealed, (2, 128));
    damage(&conn);
    check(&scene);
}

#[test]
fn a_long_page_ends_with_a_chunk() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let make = || handle(&store);
    let scene = Scene::new(&make);
    scene.root("short", turns(350));
    // 13 of these events fit into a chunk, and 53 are as many bytes as a page may have.
    scene.root("long", vec![user(&"x".repeat(20_000)); 64 + 20]);
    let seqs = |session: &str, from, limit, direction| {
        let query = Query { direction, ..query(from, limit) };
        let page = store.read(&id(session), &query).unwrap();
        page.events.iter().map(|stored| stored.seq).collect::<Vec<_>>()
    };
    let forward = |session, from, limit| seqs(session, from, limit, Direction::Forward);
    assert_eq!(forward("short", 16, 512), (16..512).collect::<Vec<_>>());
    assert_eq!(forward("short", 0, 512), (0..512).collect::<Vec<_>>());
    assert_eq!(forward("short", 16, 100), (16..116).collect::<Vec<_>>());
    assert_eq!(forward("long", 0, 512), (0..64).collect::<Vec<_>>());
    let backward = seqs("short", 600, 512, Direction::Backward);
    assert_eq!(backward, (128..=600).rev().collect::<Vec<_>>());
}

#[test]
fn a_changed_field_of_a_chunk_is_noticed() {
    let flips = [
        "positions = 63",
        "kept = kept + 1",
        "idx = idx + 1",
        "turns = turns + 1",
        "bytes = bytes + 1",
        "there = there - 1",
        "inherited = inherited - 1",
        "indexed = indexed - 1",
        "started = started + 2",
        "codec = 1",
        "crc = crc + 1",
        "heads = x'00'",
        "heads = 'text'",
        "body = 7",
        "positions = 0",
        "positions = -1",
        "positions = 1 << 40",
    ];
    for flip in flips {
        let sql = format!("UPDATE chunk SET {flip} WHERE k = 4294967296");
        let damage = |conn: &rusqlite::Connection| assert_eq!(conn.execute(&sql, []).unwrap(), 1);
        damaged(damage, |scene| {
            let error = scene.store().read(&id("a"), &query(0, 100)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{flip}: {error}");
            assert!(error.to_string().contains("segment 1"), "{flip}: {error}");
            // Reads that do not need the damaged bytes succeed.
            assert_eq!(scene.store().read(&id("a"), &query(64, 100)).unwrap().events.len(), 76);
            let problems = scene.store().verify(None).unwrap().problems;
            assert!(problems.iter().all(|one| one.session_id == Some(id("a"))), "{flip}");
            assert!(!problems.is_empty(), "{flip}");
            assert!(problems.iter().all(|one| one.seq <= Some(64)), "{flip}: {problems:?}");
        });
    }
}

#[test]
fn a_changed_payload_in_a_chunk_costs_that_event_alone() {
    for byte in [b'X', 0xff] {
        let damage = |conn: &rusqlite::Connection| {
            let sql = "SELECT body FROM chunk WHERE k = 4294967296";
            let mut body: Vec<u8> = conn.query_row(sql, [], |row| row.get(0)).unwrap();
            // All payloads of this test have the same length, so that this is a byte in the payload
            // of the event at position 5.
            let at = body.len() / 64 * 5 + 3;
            body[at] = byte;
            let sql = "UPDATE chunk SET body = ? WHERE k = 4294967296";
            assert_eq!(conn.execute(sql, params![body]).unwrap(), 1);
        };
        damaged(damage, |scene| {
            let error = scene.store().read(&id("a"), &query(0, 100)).unwrap_err();
            let Error::Corrupt { session, seq, location: position, .. } = &error else {
                panic!("{error:?}")
            };
            assert_eq!((session.as_ref(), *seq), (Some(&id("a")), Some(5)));
            assert!(position.contains("segment 1, position 5"), "{position}");
            assert_eq!(scene.store().read(&id("a"), &query(0, 5)).unwrap().events.len(), 5);
            assert_eq!(scene.store().read(&id("a"), &query(6, 500)).unwrap().events.len(), 134);
            let problems = scene.store().verify(None).unwrap().problems;
            let locations: Vec<_> = problems.iter().map(|one| (one.seq, one.kind)).collect();
            assert_eq!(locations, [(Some(5), ErrorKind::Corrupt)]);
        });
    }
}

#[test]
fn what_cannot_be_read_is_not_sealed_and_hinders_nobody() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let make = || handle(&store);
    let scene = Scene::new(&make);
    scene.root("a", turns(30));
    let sql = "UPDATE event SET ts = ts + 1 WHERE k = 4294967306";
    assert_eq!(scratch.sqlite().execute(sql, []).unwrap(), 1);
    scene.append("a", turns(40));
    scene.pack();
    let rows = "SELECT group_concat(k & 0xffffffff) FROM event";
    let rows: String = scratch.sqlite().query_row(rows, [], |row| row.get(0)).unwrap();
    assert_eq!(rows, "10");
    let problems = scene.store().verify(None).unwrap().problems;
    assert_eq!(problems.iter().map(|one| one.seq).collect::<Vec<_>>(), [Some(10)]);
    assert_eq!(scene.store().read(&id("a"), &query(11, 500)).unwrap().events.len(), 129);
}

#[test]
fn long_payloads_stay_out_of_chunks_until_they_are_packed() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let make = || handle(&store);
    let scene = Scene::new(&make);
    scene.root("a", turns(5));
    scene.append("a", vec![user(&"long ".repeat(20_000))]);
    scene.append("a", turns(60));
    let counts = || -> (i64, i64) {
        let sql = "SELECT (SELECT count(*) FROM event), (SELECT sum(positions) FROM chunk)";
        scratch.sqlite().query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap()
    };
    assert_eq!(counts(), (4, 127));
    let (log, bytes) = (scene.log("a"), scene.store().store_bytes().unwrap());
    scene.pack();
    assert_eq!(counts(), (0, 131));
    assert_eq!(scene.log("a"), log);
    assert!(scene.store().store_bytes().unwrap() < bytes);
}

#[test]
fn idle_rows_are_packed_after_the_steps() {
    let scratch = Scratch::new();
    let checkpoints = Checkpoints { every_pages: 60, in_step: false };
    let options = Options { checkpoints, pack_every: Duration::ZERO, ..Options::default() };
    let store = Arc::new(SqliteStore::open(&scratch.file(), options).unwrap());
    let make = || handle(&store);
    let scene = Scene::new(&make);
    // The scene's clock shows a far earlier time than the system, so this family counts as idle.
    scene.root("idle", turns(200));
    let log = scene.log("idle");
    scene.root("busy", turns(1));
    let packed = || -> i64 {
        let sql = "SELECT count(*) FROM chunk WHERE codec = 1 AND k >> 32 = 1";
        scratch.sqlite().query_row(sql, [], |row| row.get(0)).unwrap()
    };
    let mut appends = 1;
    while packed() == 0 {
        scene.append("busy", turns(10));
        appends += 10;
        assert!(appends < 20_000, "nothing was packed");
    }
    assert_eq!(scene.log("idle"), log);
    assert_eq!(scene.log("busy").len(), 2 * appends);
    scene.assert_sound();
}

/// Copies a store that the first version of forklore wrote.
fn first_version(scratch: &Scratch) {
    let golden =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/stores/sqlite-v1/store");
    fs::copy(golden.join("store.db"), scratch.file()).unwrap();
    let conn = scratch.sqlite();
    let version: i64 = conn.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    assert_eq!(version, 1);
}

fn everything(store: &SqliteStore) -> Vec<Vec<LogEntry>> {
    let sessions = store.sessions(&Filter::default(), None, 0).unwrap().all().unwrap();
    let log = |id| store.read(id, &query(0, usize::MAX)).unwrap().events;
    sessions.iter().map(|header| log(&header.id)).collect()
}

#[test]
fn a_store_of_the_first_version_is_read_as_it_is_and_then_brought_up() {
    let scratch = Scratch::new();
    first_version(&scratch);
    let bytes = fs::read(scratch.file()).unwrap();
    let read_only = Options { read_only: true, ..Options::default() };
    let before = everything(&SqliteStore::open(&scratch.file(), read_only).unwrap());
    assert!(before.iter().map(Vec::len).sum::<usize>() > 20);
    assert_eq!(fs::read(scratch.file()).unwrap(), bytes, "it was written to");
    let store = SqliteStore::open(&scratch.file(), Options::default()).unwrap();
    assert_eq!(everything(&store), before);
    let now = jiff::Timestamp::now();
    assert!(store.pack(now).unwrap().events > 0);
    assert_eq!(everything(&store), before);
    assert_eq!(store.verify(None).unwrap().problems, []);
}

#[test]
fn whoever_reads_a_store_of_the_first_version_sees_what_becomes_of_it() {
    let scratch = Scratch::new();
    first_version(&scratch);
    let read_only = Options { read_only: true, ..Options::default() };
    let reader = SqliteStore::open(&scratch.file(), read_only).unwrap();
    let before = everything(&reader);
    let store = SqliteStore::open(&scratch.file(), Options::default()).unwrap();
    assert!(store.pack(jiff::Timestamp::now()).unwrap().events > 0);
    assert_eq!(everything(&reader), before);
}

#[test]
fn a_chunk_that_lies_about_its_counts_leads_nobody_astray() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let make = || handle(&store);
    let scene = Scene::new(&make);
    scene.root("a", turns(130));
    let fork = scene.child_draft("a", "b", 100, Strategy::ShareV1, vec![]);
    let log = scene.log("a");
    let sql = "UPDATE chunk SET kept = 0, idx = 0, turns = 0 WHERE k = (1 << 32) + 64";
    assert_eq!(scratch.sqlite().execute(sql, []).unwrap(), 1);
    let made = scene.store().create(fork);
    assert!(made.is_err(), "{:?}", made.map(|header| header.inherited));
    for at in [At::Inheritable(100), At::Index(100), At::Turn(50)] {
        let query = Query { at, direction: Direction::Forward, limit: 1, bare: false };
        let read = scene.store().read(&id("a"), &query);
        assert!(read.is_err(), "{:?}: {read:?}", query.at);
    }
    assert_eq!(scene.store().read(&id("a"), &query(128, 500)).unwrap().events, log[128..]);
}

#[test]
fn what_a_deleted_session_ought_not_to_have_any_more_is_noticed() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let make = || handle(&store);
    let scene = Scene::new(&make);
    scene.root("a", turns(70));
    scene.root("b", turns(1));
    let conn = scratch.sqlite();
    conn.execute_batch("CREATE TEMP TABLE kept AS SELECT * FROM chunk").unwrap();
    scene.delete("a");
    scene.assert_sound();
    conn.execute_batch("INSERT INTO chunk SELECT * FROM kept").unwrap();
    let problems = scene.store().verify(None).unwrap().problems;
    let found: Vec<_> = problems.iter().map(|one| (one.session_id.clone(), one.kind)).collect();
    assert_eq!(found, [(Some(id("a")), ErrorKind::Corrupt)]);
}

#[test]
fn a_chunk_that_lies_about_its_length_is_not_passed_over_by_a_delete() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let make = || handle(&store);
    let scene = Scene::new(&make);
    scene.root("a", turns(70));
    scene.fork("a", "b", 32, turns(1));
    for positions in [0, 1, 100] {
        let sql = "UPDATE chunk SET positions = ? WHERE k = 1 << 32";
        assert_eq!(scratch.sqlite().execute(sql, [positions]).unwrap(), 1);
        let refused = scene.remove(&["a"], Children::Retain).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Corrupt, "{positions}: {refused}");
        assert_eq!(scene.store().header(&id("a")).unwrap().deleted, None);
    }
}

#[test]
fn a_damaged_payload_does_not_prevent_erasing_its_neighbours() {
    for byte in [b'X', 0xff] {
        let scratch = Scratch::new();
        let store = scratch.open();
        let make = || handle(&store);
        let scene = Scene::new(&make);
        scene.root("a", turns(70));
        scene.fork("a", "b", 32, turns(1));
        let log = scene.log("b");
        let sql = "SELECT body FROM chunk WHERE k = 1 << 32";
        let mut body: Vec<u8> = scratch.sqlite().query_row(sql, [], |row| row.get(0)).unwrap();
        let at = body.len() / 64 * 5 + 3;
        body[at] = byte;
        let sql = "UPDATE chunk SET body = ? WHERE k = 1 << 32";
        assert_eq!(scratch.sqlite().execute(sql, params![body]).unwrap(), 1);
        scene.delete("a");
        let sql = "SELECT sum(positions) FROM chunk";
        let left: i64 = scratch.sqlite().query_row(sql, [], |row| row.get(0)).unwrap();
        assert_eq!(left, 32);
        let error = scene.store().read(&id("b"), &query(0, 100)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        assert_eq!(scene.store().read(&id("b"), &query(7, 100)).unwrap().events, log[7..]);
    }
}
