//! Tests that the store detects damage and reports its location, and that all operations that do
//! not need the damaged bytes still work.

use std::cell::RefCell;

use forklore_conformance::Scene;
use forklore_conformance::events::turns;
use forklore_core::{ErrorKind, SessionId};
use forklore_store::Error;
use forklore_store::port::{At, Children, Direction, Filter, Query, Store};

use crate::scratch::{Scratch, handle};

fn everything(at: u64) -> Query {
    Query { at: At::Seq(at), direction: Direction::Forward, limit: 100, bare: false }
}

fn id(text: &str) -> SessionId {
    text.parse().unwrap()
}

/// Creates a store with a root `a` (6 events), its fork `b` (cut after 4 events) and another root
/// `c`. Runs `sql` to damage the store, and then `check`.
fn damaged(sql: &str, check: impl FnOnce(&Scene<'_>)) {
    let scratch = Scratch::new();
    let store = scratch.open();
    let make = || handle(&store);
    let scene = Scene::new(&make);
    scene.root("a", turns(3));
    scene.fork("a", "b", 4, turns(1));
    scene.root("c", turns(1));
    let before = scene.log("c");
    assert_eq!(scratch.sqlite().execute(sql, []).unwrap(), 1, "{sql}");
    check(&scene);
    assert_eq!(scene.log("c"), before);
    scene.append("c", turns(1));
}

fn assert_corrupt(error: &Error, session: &str, seq: Option<u64>, scratch: &str) {
    let Error::Corrupt { session: found, seq: at, location: found_location, .. } = error else {
        panic!("not damage: {error:?}");
    };
    assert_eq!((found.as_ref(), *at), (Some(&id(session)), seq), "{error}");
    assert!(found_location.contains(scratch) && found_location.contains("store.db"), "{error}");
}

#[test]
fn a_changed_field_of_an_event_is_noticed() {
    // The third event of the first session: k = 1 << 32 | 2.
    let flips = [
        "id = 'other'",
        "ts = ts + 1",
        "type = 'reasoning'",
        "class = 1",
        "kept = kept + 1",
        "idx = idx + 1",
        "turns = turns + 1",
        "bytes = bytes + 1",
        "open = 1",
        "starts_turn = 1 - starts_turn",
        "calls = '[]'",
        "origin_session = 1, origin_seq = 2",
        "crc = crc + 1",
        "crc = crc + (1 << 40)",
        "payload = replace(payload, 'q', 'Q')",
        "payload = x'ff'",
    ];
    for flip in flips {
        damaged(&format!("UPDATE event SET {flip} WHERE k = 4294967298"), |scene| {
            let error = scene.store().read(&id("a"), &everything(0)).unwrap_err();
            assert_corrupt(&error, "a", Some(2), "event row 4294967298 (segment 1, position 2)");
            let error = scene.store().read(&id("b"), &everything(0)).unwrap_err();
            assert_corrupt(&error, "b", Some(3), "segment 1, position 2");
            // Reads that do not need the damaged bytes succeed.
            assert_eq!(scene.store().read(&id("a"), &everything(3)).unwrap().events.len(), 3);
            let problems = scene.store().verify(None).unwrap().problems;
            let found: Vec<_> =
                problems.iter().map(|one| (one.session_id.clone(), one.seq, one.kind)).collect();
            assert_eq!(found, [(Some(id("a")), Some(2), ErrorKind::Corrupt)], "{flip}");
        });
    }
}

#[test]
fn a_changed_list_of_spans_is_noticed() {
    for flip in ["spans = x'0105000000000000'", "crc = crc + 1", "page = 1", "spans = x''"] {
        damaged(&format!("UPDATE ancestry SET {flip} WHERE sid = 2"), |scene| {
            let error = scene.store().read(&id("b"), &everything(0)).unwrap_err();
            assert_corrupt(&error, "b", None, "ancestry row 2");
            let problems = scene.store().verify(None).unwrap().problems;
            assert_eq!(problems.len(), 1, "{problems:?}");
            assert_eq!(problems[0].session_id, Some(id("b")));
        });
    }
}

#[test]
fn a_lost_event_is_never_a_shorter_history() {
    damaged("DELETE FROM event WHERE k = 4294967298", |scene| {
        let error = scene.store().read(&id("b"), &everything(0)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::MissingAncestor, "{error}");
        let error = scene.store().read(&id("a"), &everything(0)).unwrap_err();
        assert_corrupt(&error, "a", Some(2), "segment 1");
        assert!(!scene.store().verify(None).unwrap().problems.is_empty());
    });
}

#[test]
fn the_first_event_is_missed_too() {
    damaged("DELETE FROM event WHERE k = 4294967296", |scene| {
        let problems = scene.store().verify(None).unwrap().problems;
        let found: Vec<_> = problems.iter().map(|one| (one.session_id.clone(), one.kind)).collect();
        assert_eq!(found, [(Some(id("a")), ErrorKind::MissingAncestor)]);
    });
}

#[test]
fn a_session_that_cannot_be_read_never_becomes_a_new_one() {
    damaged("UPDATE session SET kind = 9 WHERE sid = 1", |scene| {
        let error = scene.store().header(&id("a")).unwrap_err();
        assert_corrupt(&error, "a", None, "session row");
        let error = scene.store().create(scene.draft("a", vec![])).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AlreadyExists);
        assert_eq!(scene.store().verify(None).unwrap().problems[0].kind, ErrorKind::Corrupt);
    });
}

#[test]
fn a_page_of_rubbish_is_an_error_that_names_the_file() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let make = || handle(&store);
    let scene = Scene::new(&make);
    scene.root("a", turns(3));
    drop(scene);
    drop(store);
    let length = std::fs::metadata(scratch.file()).unwrap().len();
    let file = std::fs::OpenOptions::new().write(true).open(scratch.file()).unwrap();
    for page in 2..length / 4096 {
        std::os::unix::fs::FileExt::write_all_at(&file, &[0xa5; 512], page * 4096).unwrap();
    }
    let error = forklore_sqlite::SqliteStore::open(&scratch.file(), Default::default())
        .and_then(|store| store.read(&id("a"), &everything(0)))
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    assert!(error.to_string().contains("store.db"), "{error}");
}

/// Returns an SQL assignment that changes a column to another value of the same type.
fn change_of(column: &str) -> String {
    format!(
        "{column} = CASE typeof({column}) WHEN 'integer' THEN {column} + 1
             WHEN 'real' THEN {column} + 1 WHEN 'text' THEN {column} || 'x'
             WHEN 'blob' THEN {column} || x'00' ELSE 1 END"
    )
}

fn columns(scratch: &Scratch, table: &str) -> Vec<String> {
    let sqlite = scratch.sqlite();
    let mut statement = sqlite.prepare("SELECT name FROM pragma_table_info(?)").unwrap();
    let names = statement.query_map([table], |row| row.get(0)).unwrap();
    names.map(Result::unwrap).collect()
}

#[test]
fn a_changed_field_of_a_header_is_noticed_and_hides_no_other() {
    let scratch = Scratch::new();
    drop(scratch.open());
    let columns = columns(&scratch, "session");
    assert!(columns.len() > 50, "{columns:?}");
    for column in columns.iter().filter(|column| *column != "sid") {
        damaged(&format!("UPDATE session SET {} WHERE sid = 2", change_of(column)), |scene| {
            let store = scene.store();
            let all = Filter { deleted: true, ..Filter::default() };
            let listed = store.sessions(&all, None, 0).unwrap();
            let mut ids: Vec<_> = listed.sound.iter().map(|header| header.id.as_str()).collect();
            ids.sort_unstable();
            assert_eq!((ids, listed.damaged.len()), (vec!["a", "c"], 1), "{column}");
            let reported = listed.damaged[0].to_string();
            assert!(
                reported.contains("session row 2") || reported.contains("session b"),
                "{reported}"
            );
            assert!(store.header(&id("b")).is_err(), "{column}");
            assert_eq!(store.read(&id("a"), &everything(0)).unwrap().events.len(), 6);
            let problems = store.verify(None).unwrap().problems;
            assert!(problems.iter().any(|problem| problem.message == reported), "{problems:?}");
        });
    }
}

#[test]
fn a_family_is_not_trimmed_by_a_row_that_lies() {
    for flip in ["deleted = 1", "inherited_kept = 0", "kept_to = 1, deleted = 2"] {
        damaged(&format!("UPDATE session SET {flip} WHERE sid = 2"), |scene| {
            let refused = scene.remove(&["a"], Children::Retain);
            assert_eq!(refused.unwrap_err().kind(), ErrorKind::Corrupt, "{flip}");
            assert_eq!(scene.store().read(&id("a"), &everything(0)).unwrap().events.len(), 6);
        });
    }
}

/// Simulates a power failure that destroys the first page of the database file while the WAL is
/// written back.
#[test]
fn a_first_page_that_is_still_in_the_wal_is_read_from_there() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let make = || handle(&store);
    let scene = Scene::new(&make);
    scene.root("a", turns(300));
    let before = scene.log("a");
    let cut = Scratch::new();
    for suffix in ["", "-wal"] {
        let name = format!("store.db{suffix}");
        std::fs::copy(scratch.dir().join(&name), cut.dir().join(&name)).unwrap();
    }
    let mut bytes = std::fs::read(cut.file()).unwrap();
    bytes[..8192].fill(0);
    std::fs::write(cut.file(), &bytes).unwrap();
    let store = cut.open();
    let make = || handle(&store);
    let scene = Scene::new(&make);
    assert_eq!(scene.log("a"), before);
    scene.append("a", turns(1));
    scene.assert_sound();
}

#[test]
fn a_damaged_case_folded_id_costs_nothing() {
    let scratch = Scratch::new();
    let with_scene = |use_scene: &dyn Fn(&Scene<'_>)| {
        let store = scratch.open();
        let make = || handle(&store);
        use_scene(&Scene::new(&make));
    };
    let answers = |scene: &Scene<'_>| {
        let headers = scene.store().sessions(&Filter::default(), None, 10).unwrap();
        assert!(headers.damaged.is_empty(), "{:?}", headers.damaged);
        (headers.sound, scene.log("Rooted"), scene.log("b"))
    };
    let before = RefCell::new(None);
    with_scene(&|scene| {
        scene.root("Rooted", turns(3));
        scene.fork("Rooted", "b", 4, turns(1));
        before.replace(Some(answers(scene)));
    });

    // In the row, the folded id follows the id. The index has a sound copy of it.
    let mut bytes = std::fs::read(scratch.file()).unwrap();
    let pair = b"Rootedrooted";
    let row = bytes.windows(pair.len()).position(|found| found == pair).unwrap();
    bytes[row + "Rooted".len()] ^= 16;
    std::fs::write(scratch.file(), bytes).unwrap();

    with_scene(&|scene| {
        assert_eq!(Some(answers(scene)), before.take());
        let problems = scene.store().verify(None).unwrap().problems;
        assert!(!problems.is_empty());
        assert!(problems.iter().all(|one| one.message.contains("store.db")), "{problems:?}");
    });
}
