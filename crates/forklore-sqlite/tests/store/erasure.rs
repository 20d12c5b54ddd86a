//! Tests that after a delete and a `gc` no file of the store contains bytes of deleted events
//! (docs/semantics.md, Delete, detach).

use std::fs;

use forklore_conformance::Scene;
use forklore_conformance::events::{turns, user};
use forklore_core::{Redaction, Strategy};
use forklore_store::Store;
use forklore_store::port::{Children, EventRedaction, LogEntry, Redactions, Write};

use crate::scratch::{Scratch, handle};

const SECRET: &str = "the launch code is 0451";

/// Counts the occurrences of the secret in the store's files.
fn found(scratch: &Scratch) -> usize {
    let files = fs::read_dir(scratch.dir()).unwrap();
    let bytes = files.map(|file| fs::read(file.unwrap().path()).unwrap());
    bytes
        .map(|bytes| bytes.windows(SECRET.len()).filter(|at| *at == SECRET.as_bytes()).count())
        .sum()
}

#[test]
fn what_was_deleted_is_in_no_file() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let make = || handle(&store);
    let scene = Scene::new(&make);
    scene.root("a", turns(2));
    for n in 0..200 {
        scene.append("a", vec![user(&format!("{SECRET} {}", "x".repeat(n * 7)))]);
    }
    scene.root("b", turns(40));
    scene.fork("a", "kept", 2, turns(1));
    let copy = scene.child_draft("a", "copy", 150, Strategy::ReplayV1, vec![]);
    scene.store().create(copy).unwrap();
    assert!(found(&scratch) >= 200);
    scene.delete("copy");
    scene.delete("a");
    let before = store.store_bytes().unwrap();
    let collected = store.gc().unwrap();
    assert_eq!(found(&scratch), 0);
    assert_eq!(collected.freed_bytes, before - store.store_bytes().unwrap());
    assert!(collected.freed_bytes > 200_000, "{collected:?}");
    assert_eq!(scene.texts("kept"), ["session_fork", "q1", "a1", "q1", "a1"]);
    scene.assert_sound();
}

#[test]
fn packing_leaves_it_to_gc_to_write_the_file_anew() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let make = || handle(&store);
    let scene = Scene::new(&make);
    scene.root("cold", turns(2));
    let cold = scene.clock.now();
    scene.root("a", turns(2));
    scene.root("b", turns(200));
    scene.delete("a");
    let erased = || -> bool {
        scratch.sqlite().query_row("SELECT erased FROM upkeep", [], |row| row.get(0)).unwrap()
    };
    assert!(erased());
    assert_eq!(store.pack(cold).unwrap().events, 4);
    assert!(erased(), "nothing was written anew, and gc would leave it at that");
    store.gc().unwrap();
    assert!(!erased());
}

/// Redacts all events of a session's history that contain the secret. Returns their number.
fn redact(scene: &Scene<'_>, session: &str) -> usize {
    let with_secret = scene.log(session).into_iter();
    let with_secret = with_secret.filter(|entry| entry.event.data.get().contains(SECRET));
    let redaction = |entry: LogEntry| {
        let bytes = entry.event.data.get().len() as u64;
        let at = "2026-11-28T00:00:00Z".parse().unwrap();
        let redaction = Redaction { bytes, reason: "a code".into(), at, by: None };
        let data = redaction.payload_of(&entry.event);
        EventRedaction { origin: entry.origin, event_id: entry.event.id, data }
    };
    let events = with_secret.map(redaction).collect();
    let redactions = Redactions { events, ..Redactions::default() };
    let write = Write::Redact(Box::new(redactions));
    scene.store().commit(write.into()).unwrap().redacted().unwrap().events.len()
}

#[test]
fn what_was_redacted_is_in_no_file() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let make = || handle(&store);
    let scene = Scene::new(&make);
    scene.root("a", turns(2));
    for n in 0..100 {
        scene.append("a", vec![user(&format!("{SECRET} {}", "x".repeat(n * 7)))]);
    }
    scene.fork("a", "shared", 90, turns(1));
    scene.copy("a", "copy", 80, turns(1));
    scene.fork("a", "detached", 70, turns(1));
    scene.detach("detached");
    assert!(found(&scratch) >= 100);
    scene.pack();
    scene.trash(&["detached"], Children::Retain).unwrap();
    assert_eq!(redact(&scene, "a"), 100);
    store.gc().unwrap();
    assert_eq!(found(&scratch), 0);
    scene.undelete("detached", "detached").unwrap();
    for session in ["a", "shared", "copy", "detached"] {
        assert_eq!(redact(&scene, session), 0);
        scene.append(session, turns(1));
    }
    scene.assert_sound();
}
