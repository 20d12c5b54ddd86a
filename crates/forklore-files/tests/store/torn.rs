//! Tests that a torn tail is not read as an event, and that the loss of acknowledged data is an
//! error.

use std::fs;

use forklore_conformance::Scene;
use forklore_conformance::events::{turns, user};
use forklore_core::ErrorKind;
use forklore_store::port::{At, Direction, Query};

use crate::scratch::{Scratch, handle};

fn everything() -> Query {
    Query { at: At::Seq(0), direction: Direction::Forward, limit: 100, bare: false }
}

/// Destroys the claims of all sessions. The claims record the durable length of each file. A
/// machine crash may do the same.
fn forget_marks(scratch: &Scratch) {
    for entry in fs::read_dir(scratch.root().join("ids")).unwrap() {
        fs::write(entry.unwrap().path(), "{\"id\":").unwrap();
    }
}

#[test]
fn a_tail_torn_at_any_byte_is_cut_back_and_saved() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let make = || handle(&store);
    let scene = Scene::new(&make);
    scene.root("a", turns(1));
    let (before, whole) = (scene.log("a"), fs::read(scratch.file("a")).unwrap());
    scene.append("a", vec![user("one"), user("two")]);
    let (after, longer) = (scene.log("a"), fs::read(scratch.file("a")).unwrap());
    for cut in (whole.len()..longer.len()).rev() {
        forget_marks(&scratch);
        fs::write(scratch.file("a"), &longer[..cut]).unwrap();
        // Readers skip the torn tail and change nothing.
        assert_eq!(scene.log("a"), before, "cut at {cut}");
        assert_eq!(fs::read(scratch.file("a")).unwrap().len(), cut);
    }
    fs::write(scratch.file("a"), &longer[..longer.len() - 7]).unwrap();
    scene.append("a", vec![user("three")]);
    assert_eq!(scene.texts("a"), ["q1", "a1", "three"]);
    let aside: Vec<_> = fs::read_dir(scratch.root().join("aside")).unwrap().collect();
    let stored = fs::read(aside[0].as_ref().unwrap().path()).unwrap();
    assert_eq!(stored, longer[whole.len()..longer.len() - 7]);
    assert_eq!(after.len(), 4);
    scene.assert_sound();
}

#[test]
fn half_a_batch_never_happened() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let make = || handle(&store);
    let scene = Scene::new(&make);
    scene.root("a", turns(1));
    let (before, whole) = (scene.log("a"), fs::read(scratch.file("a")).unwrap());
    scene.append("a", vec![user("one"), user(&"two".repeat(400)), user("three")]);
    let longer = fs::read(scratch.file("a")).unwrap();
    // The crash happened after the disk wrote the end of the batch, but not its middle.
    for hole in (whole.len()..longer.len() - 512).step_by(64) {
        forget_marks(&scratch);
        let mut torn = longer.clone();
        torn[hole..hole + 512].fill(0);
        fs::write(scratch.file("a"), torn).unwrap();
        assert_eq!(scene.log("a"), before, "hole at {hole}");
    }
}

#[test]
fn acknowledged_lines_never_count_as_torn() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let make = || handle(&store);
    let scene = Scene::new(&make);
    scene.root("a", turns(2));
    scene.fork("a", "b", 2, turns(1));
    scene.append("a", vec![user("last")]);
    let before = scene.log("b");
    let whole = fs::read(scratch.file("a")).unwrap();
    for cut in (0..whole.len()).step_by(5) {
        fs::write(scratch.file("a"), &whole[..cut]).unwrap();
        let error = scene.store().read(&"a".parse().unwrap(), &everything()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "cut at {cut}: {error}");
        assert!(error.to_string().contains("a.jsonl"), "{error}");
        // An append is refused and does not overwrite the damage.
        let append = scene.appending(turns(1));
        assert!(scene.store().append(&"a".parse().unwrap(), append).is_err());
        assert_eq!(fs::read(scratch.file("a")).unwrap(), whole[..cut]);
    }
    fs::write(scratch.file("a"), &whole[..whole.len() - 1]).unwrap();
    assert_eq!(scene.log("b"), before);
    let problems = scene.store().verify(None).unwrap().problems;
    assert!(problems[0].session_id == Some("a".parse().unwrap()), "{problems:?}");
}

#[test]
fn an_event_removed_from_the_middle_is_missed() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let make = || handle(&store);
    let scene = Scene::new(&make);
    scene.root("a", turns(4));
    scene.fork("a", "b", 8, vec![]);
    let whole = fs::read_to_string(scratch.file("a")).unwrap();
    let lines: Vec<_> = whole.lines().collect();
    for outcome in 1..=8 {
        let location_of = lines[..outcome].iter().map(|line| line.len() + 1).sum::<usize>();
        let mut left = lines.clone();
        // The length of the file does not change, so only the missing event itself shows the loss.
        let filler = " ".repeat(left[outcome].len());
        left[outcome] = &filler;
        fs::write(scratch.file("a"), left.join("\n") + "\n").unwrap();
        for session in ["a", "b"] {
            let error = scene.store().read(&session.parse().unwrap(), &everything()).unwrap_err();
            let kinds = [ErrorKind::Corrupt, ErrorKind::MissingAncestor];
            assert!(kinds.contains(&error.kind()), "{error}");
            let output =
                session == "b" || error.to_string().contains(&format!("byte {location_of} "));
            assert!(output, "{error}, not byte {location_of}");
        }
    }
}
