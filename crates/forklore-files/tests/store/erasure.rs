//! Tests that after a delete and a `gc` no file of the store contains bytes of deleted events
//! (docs/semantics.md, Delete, detach).

use std::fs;

use forklore_conformance::Scene;
use forklore_conformance::events::{turns, user};
use forklore_core::{Redaction, Strategy};
use forklore_store::Store;
use forklore_store::port::{Change, Children, EventRedaction, LogEntry, Redactions, Write};

use crate::scratch::{Scratch, handle};

pub(crate) const SECRET: &str = "the launch code is 0451";

/// Returns the names of the store's files that contain the secret.
pub(crate) fn found(scratch: &Scratch) -> Vec<String> {
    let holds = |bytes: &[u8]| bytes.windows(SECRET.len()).any(|at| at == SECRET.as_bytes());
    let files = scratch.files().into_iter().filter(|(_, bytes)| holds(bytes));
    files.map(|(path, _)| path.file_name().unwrap().to_str().unwrap().to_owned()).collect()
}

#[test]
fn what_was_deleted_is_in_no_file() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let make = || handle(&store);
    let scene = Scene::new(&make);
    scene.root("a", turns(2));
    for n in 0..50 {
        scene.append("a", vec![user(&format!("{SECRET} {}", "x".repeat(n * 7)))]);
    }
    scene.change("a", &Change::Title(Some(SECRET.into())));
    scene.fork("a", "kept", 2, turns(1));
    scene.copy("a", "copy", 40, vec![]);
    scene.fork("copy", "of-copy", 3, vec![]);
    // A torn tail with the secret, which the next writer moves to the folder `aside`.
    let file = scratch.file("a");
    let mut torn = fs::read(&file).unwrap();
    torn.extend_from_slice(format!("{{\"id\":\"torn\",\"{SECRET}").as_bytes());
    fs::write(&file, torn).unwrap();
    scene.append("a", turns(1));
    assert_eq!(found(&scratch).len(), 3, "{:?}", found(&scratch));
    let child = scene.child_draft("of-copy", "second", 2, Strategy::ShareV1, vec![]);
    scene.store().create(child).unwrap();
    for session in ["of-copy", "copy", "a"] {
        scene.delete(session);
    }
    let before = store.store_bytes().unwrap();
    let collected = store.gc().unwrap();
    assert_eq!(found(&scratch), [""; 0]);
    assert_eq!(collected.freed_bytes, before - store.store_bytes().unwrap());
    assert_eq!(scene.texts("kept"), ["session_fork", "q1", "a1", "q1", "a1"]);
    assert_eq!(scene.texts("second"), ["session_fork", "q1", "a1"]);
    scene.assert_sound();
}

/// Describes the redaction of all events of a session's history that contain the secret.
pub(crate) fn redaction(scene: &Scene<'_>, session: &str) -> Write {
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
    Write::Redact(Box::new(redactions))
}

/// Redacts all events of a session's history that contain the secret. Returns their number.
fn redact(scene: &Scene<'_>, session: &str) -> usize {
    let write = redaction(scene, session);
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
    scene.pack();
    scene.trash(&["detached"], Children::Retain).unwrap();
    assert!(found(&scratch).len() >= 3);
    assert_eq!(redact(&scene, "a"), 100);
    store.gc().unwrap();
    assert_eq!(found(&scratch), [""; 0]);
    scene.undelete("detached", "detached").unwrap();
    for session in ["a", "shared", "copy", "detached"] {
        assert_eq!(redact(&scene, session), 0);
        scene.append(session, turns(1));
    }
    scene.assert_sound();
}
