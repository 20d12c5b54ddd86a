//! Tests of logging with `FORKLORE_LOG`.

use std::io::Write;

use crate::sandbox::{Ran, Sandbox, ran};

fn logged(sandbox: &Sandbox, filter: &str, words: &[&str]) -> Ran {
    let mut command = sandbox.command(words);
    command.env("FORKLORE_LOG", filter);
    ran(command)
}

/// Creates a `files:` store with a session whose last line is torn.
fn torn(sandbox: &Sandbox) -> String {
    let store = format!("files:{}", sandbox.path().join("files").display());
    sandbox.ok(&["--store", &store, "new", "--id", "a"]);
    sandbox.ok(&["--store", &store, "append", "a", "--text", "hello"]);
    let workspaces = sandbox.path().join("files/workspaces");
    let folder = std::fs::read_dir(workspaces).unwrap().next().unwrap().unwrap().path();
    let file = folder.join("a.jsonl");
    std::fs::OpenOptions::new().append(true).open(file).unwrap().write_all(b"{\"id\"").unwrap();
    store
}

#[test]
fn a_repaired_tail_is_logged_on_request() {
    let sandbox = Sandbox::new();
    let store = torn(&sandbox);
    let ran = logged(&sandbox, "warn", &["--store", &store, "append", "a", "--text", "again"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.err.contains("cut a torn tail off and kept it"), "{ran:?}");
    assert!(ran.err.contains("bytes=5"), "{ran:?}");
}

#[test]
fn nothing_is_logged_unasked() {
    let sandbox = Sandbox::new();
    let store = torn(&sandbox);
    let ran = ran(sandbox.command(&["--store", &store, "append", "a", "--text", "again"]));
    assert_eq!((ran.code, ran.err.contains("torn")), (0, false), "{ran:?}");
}

#[test]
fn a_filter_that_makes_no_sense_is_refused() {
    let sandbox = Sandbox::new();
    let ran = logged(&sandbox, "forklore=loudly", &["list", "--json"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.out.contains("loudly"), "{ran:?}");
}
