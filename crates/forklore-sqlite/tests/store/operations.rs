//! Tests of the log of operations: stores of earlier versions, and records that are damaged.

use std::fs;
use std::path::Path;

use forklore_conformance::Scene;
use forklore_conformance::events::turns;
use forklore_conformance::scene::id;
use forklore_core::ErrorKind;
use forklore_sqlite::{Options, SqliteStore};
use forklore_store::Store as _;
use forklore_store::port::{Change, NewOperation, OperationKind, Transaction, Write};

use crate::scratch::{Scratch, handle};

fn rename(scene: &Scene<'_>, session: &str, title: &str) -> Option<u64> {
    let change = Change::Title(Some(title.into()));
    let write = Write::Change { session: id(session), change };
    let operation = Some(Box::new(NewOperation::of(OperationKind::Rename)));
    let transaction = Transaction { operation, ..Transaction::from(write) };
    scene.store().commit(transaction).unwrap().operation.map(|id| id.0)
}

fn numbers(scene: &Scene<'_>) -> (Vec<u64>, usize) {
    let page = scene.store().operations(None, 0).unwrap();
    (page.found.iter().map(|one| one.id.0).collect(), page.damaged.len())
}

#[test]
fn a_store_of_the_first_version_gets_a_log_when_it_is_opened_for_writing() {
    let scratch = Scratch::new();
    let golden =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/stores/sqlite-v1/store");
    fs::copy(golden.join("store.db"), scratch.file()).unwrap();
    let read_only = Options { read_only: true, ..Options::default() };
    let store = SqliteStore::open(&scratch.file(), read_only).unwrap();
    assert!(store.operations(None, 0).unwrap().found.is_empty());
    drop(store);
    let store = scratch.open();
    let make = || handle(&store);
    let scene = Scene::new(&make);
    scene.root("new", turns(1));
    assert_eq!(rename(&scene, "new", "title"), Some(1));
    scene.assert_sound();
}

#[test]
fn a_damaged_record_hides_itself_only_until_gc_erases_it() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let make = || handle(&store);
    let scene = Scene::new(&make);
    scene.root("a", turns(1));
    for number in 1..=3 {
        assert_eq!(rename(&scene, "a", &format!("title {number}")), Some(number));
    }
    for (row, left) in [(2, vec![3, 1]), (3, vec![1])] {
        let sql = "UPDATE operation SET body = replace(body, 'title', 'other') WHERE k = ? << 24";
        assert_eq!(scratch.sqlite().execute(sql, [row]).unwrap(), 1);
        assert_eq!(numbers(&scene), (left, if row == 2 { 1 } else { 2 }));
    }
    let problems = scene.store().verify(None).unwrap().problems;
    assert_eq!(problems.len(), 2);
    assert!(problems.iter().all(|problem| problem.kind == ErrorKind::Corrupt), "{problems:?}");
    assert_eq!(scene.texts("a"), ["q1", "a1"]);
    scene.store().gc().unwrap();
    assert_eq!(numbers(&scene), (vec![1], 0));
    scene.assert_sound();
    assert_eq!(rename(&scene, "a", "title 4"), Some(4), "a number is never used again");
}
