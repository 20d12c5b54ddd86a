//! What an operator sees with `FORKLORE_LOG`.

use std::io::Write;

use crate::place::{Place, Ran, ran};

fn logged(place: &Place, filter: &str, words: &[&str]) -> Ran {
    let mut command = place.command(words);
    command.env("FORKLORE_LOG", filter);
    ran(command)
}

/// A store of files with a session whose last line is torn.
fn torn(place: &Place) -> String {
    let store = format!("files:{}", place.path().join("files").display());
    place.ok(&["--store", &store, "new", "--id", "a"]);
    place.ok(&["--store", &store, "append", "a", "--text", "hello"]);
    let workspaces = place.path().join("files/workspaces");
    let folder = std::fs::read_dir(workspaces).unwrap().next().unwrap().unwrap().path();
    let file = folder.join("a.jsonl");
    std::fs::OpenOptions::new().append(true).open(file).unwrap().write_all(b"{\"id\"").unwrap();
    store
}

#[test]
fn a_repaired_tail_is_logged_on_request() {
    let place = Place::new();
    let store = torn(&place);
    let ran = logged(&place, "warn", &["--store", &store, "append", "a", "--text", "again"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.err.contains("cut a torn tail off and kept it"), "{ran:?}");
    assert!(ran.err.contains("bytes=5"), "{ran:?}");
}

#[test]
fn nothing_is_logged_unasked() {
    let place = Place::new();
    let store = torn(&place);
    let ran = ran(place.command(&["--store", &store, "append", "a", "--text", "again"]));
    assert_eq!((ran.code, ran.err.contains("torn")), (0, false), "{ran:?}");
}

#[test]
fn a_filter_that_makes_no_sense_is_refused() {
    let place = Place::new();
    let ran = logged(&place, "forklore=loudly", &["list", "--json"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.out.contains("loudly"), "{ran:?}");
}
