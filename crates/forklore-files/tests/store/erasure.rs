//! Tests that after a delete and a `gc` no file of the store contains bytes of deleted events
//! (docs/semantics.md, Delete, detach).

use std::fs;

use forklore_conformance::Scene;
use forklore_conformance::events::{turns, user};
use forklore_core::Strategy;
use forklore_store::Store;
use forklore_store::port::Change;

use crate::scratch::{Scratch, handle};

const SECRET: &str = "the launch code is 0451";

/// Returns the names of the store's files that contain the secret.
fn found(scratch: &Scratch) -> Vec<String> {
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
