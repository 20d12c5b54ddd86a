//! Tests of the log of operations: stores without one, and lines that are damaged.

use std::fs;

use forklore_conformance::Scene;
use forklore_conformance::events::turns;
use forklore_conformance::scene::id;
use forklore_core::ErrorKind;
use forklore_store::port::{Change, NewOperation, OperationKind, Transaction, Write};

use crate::scratch::{Scratch, handle};

fn rename(scene: &Scene<'_>, title: &str) -> Option<u64> {
    let change = Change::Title(Some(title.into()));
    let write = Write::Change { session: id("a"), change };
    let operation = Some(Box::new(NewOperation::of(OperationKind::Rename)));
    let transaction = Transaction { operation, ..Transaction::from(write) };
    scene.store().commit(transaction).unwrap().operation.map(|id| id.0)
}

fn numbers(scene: &Scene<'_>) -> (Vec<u64>, usize) {
    let page = scene.store().operations(None, 0).unwrap();
    (page.found.iter().map(|one| one.id.0).collect(), page.damaged.len())
}

#[test]
fn a_damaged_line_hides_itself_only_until_gc_erases_it() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let make = || handle(&store);
    let scene = Scene::new(&make);
    scene.root("a", turns(1));
    let log = scratch.root().join("operations.jsonl");
    assert!(!log.exists(), "a store without operations has no log of them");
    for number in 1..=3 {
        assert_eq!(rename(&scene, &format!("title {number}")), Some(number));
    }
    let whole = fs::read_to_string(&log).unwrap();
    // The last line lacks its end, as after a failure of the disk.
    let damaged = whole.replacen("title 2", "other 2", 1);
    fs::write(&log, &damaged[..damaged.len() - 5]).unwrap();
    assert_eq!(numbers(&scene), (vec![1], 2));
    let problems = scene.store().verify(None).unwrap().problems;
    assert_eq!(problems.len(), 2);
    assert!(problems.iter().all(|problem| problem.kind == ErrorKind::Corrupt), "{problems:?}");
    assert_eq!(rename(&scene, "title 4"), Some(4));
    assert_eq!(numbers(&scene).0, [4, 1]);
    scene.store().gc().unwrap();
    assert_eq!(numbers(&scene), (vec![4, 1], 0));
    scene.assert_sound();
    assert!(rename(&scene, "title 5").unwrap() > 4, "a number is never used again");
    assert_eq!(scene.texts("a"), ["q1", "a1"]);
}
