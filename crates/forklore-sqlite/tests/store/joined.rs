//! Tests of joining histories: a damaged history is skipped, and ancestry pages that only a jump
//! link reaches are checked.

use std::sync::Arc;

use forklore_conformance::Scene;
use forklore_conformance::events::turns;
use forklore_core::{ErrorKind, SessionId};
use forklore_sqlite::{Checkpoints, Options, SqliteStore};
use forklore_store::port::{At, Children, Direction, Query, Store};

use crate::scratch::{Scratch, handle};

/// Opens a store that does not pack in the background.
fn open(scratch: &Scratch) -> Arc<SqliteStore> {
    let checkpoints = Checkpoints { in_step: true, ..Checkpoints::default() };
    Arc::new(
        SqliteStore::open(&scratch.file(), Options { checkpoints, ..Options::default() }).unwrap(),
    )
}

/// Creates a chain of this many forks. The first is a fork of `parent`. Each later one is a fork of
/// the one before it. Every cut is at the end of the parent, and every fork has `own` turns that it
/// wrote itself.
fn chain(scene: &Scene<'_>, parent: &str, name: &str, forks: usize, own: usize) {
    let mut parent = parent.to_owned();
    for n in 0..forks {
        let child = format!("{name}{n}");
        let inheritable = scene.header(&parent).counts.inheritable;
        scene.fork(&parent, &child, inheritable, turns(own));
        parent = child;
    }
}

fn number(scratch: &Scratch, sql: &str) -> i64 {
    scratch.sqlite().query_row(sql, [], |row| row.get(0)).unwrap()
}

#[test]
fn a_history_with_a_damaged_event_is_not_joined_and_hinders_no_other() {
    let scratch = Scratch::new();
    let store = open(&scratch);
    let make = || handle(&store);
    let scene = Scene::new(&make);
    scene.root("s", turns(1));
    chain(&scene, "s", "s", 100, 10);
    scene.root("t", turns(1));
    chain(&scene, "t", "t", 90, 1);
    let log = scene.log("t89");
    // Damages the second event of a fork in the middle of the chain. More events come before it
    // than one batch copies.
    let sql = "UPDATE event SET ts = ts + 1 WHERE k =
                   (SELECT sid << 32 | 1 FROM session WHERE id = 's40')";
    assert_eq!(scratch.sqlite().execute(sql, []).unwrap(), 1);
    let packed = store.pack(scene.clock.now()).unwrap();
    assert_eq!(packed.histories, 1);
    assert!(packed.events > 300, "{packed:?}");
    assert_eq!(number(&scratch, "SELECT count(*) FROM private_segment"), 1, "a copy was left");
    // Only one copy was ever started, and none for the damaged history. Otherwise each run of
    // background packing would start that copy again.
    let copies = "SELECT seq - (1 << 30) FROM sqlite_sequence WHERE name = 'private_segment'";
    assert_eq!(number(&scratch, copies), 1);
    assert_eq!(scene.log("t89"), log);
}

#[test]
fn a_page_that_only_a_jump_leads_to_is_looked_at() {
    let scratch = Scratch::new();
    let store = open(&scratch);
    let make = || handle(&store);
    let scene = Scene::new(&make);
    scene.root("s", turns(1));
    chain(&scene, "s", "s", 320, 1);
    chain(&scene, "s200", "b", 40, 1);
    assert_eq!(store.pack(jiff::Timestamp::MIN).unwrap().histories, 1);
    let gone: Vec<_> = (0..320).map(|n| format!("s{n}")).collect();
    let gone: Vec<_> = gone.iter().map(String::as_str).chain(["s"]).collect();
    scene.remove(&gone, Children::Retain).unwrap();
    let gone: Vec<_> = (0..39).map(|n| format!("b{n}")).collect();
    let gone: Vec<_> = gone.iter().map(String::as_str).collect();
    scene.remove(&gone, Children::Retain).unwrap();
    scene.store().gc().unwrap();
    scene.assert_sound();
    let sql = "UPDATE ancestry_page SET crc = crc + 1 WHERE
                   id IN (SELECT jump FROM ancestry_page)
                   AND id NOT IN (SELECT prev FROM ancestry_page WHERE prev IS NOT NULL)
                   AND id NOT IN (SELECT page FROM ancestry WHERE page IS NOT NULL)";
    assert!(scratch.sqlite().execute(sql, []).unwrap() > 0, "there is none");
    let (at, direction) = (At::Seq(1), Direction::Forward);
    let query = Query { at, direction, limit: 1, bare: false };
    let id: SessionId = "b39".parse().unwrap();
    assert_eq!(store.read(&id, &query).unwrap_err().kind(), ErrorKind::Corrupt);
    let problems = store.verify(None).unwrap().problems;
    assert!(!problems.is_empty());
    assert!(problems.iter().all(|one| one.kind == ErrorKind::Corrupt), "{problems:?}");
}
