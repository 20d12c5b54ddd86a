//! Tests of the log of operations: `op log`, `op show` and `op undo`.

use std::path::Path;

use serde_json::json;

use crate::sandbox::{Sandbox, snapshot};
use crate::trash::{at_terminal, contains};

/// Creates a store with operations of several kinds.
fn busy() -> Sandbox {
    let sandbox = Sandbox::with_a_plan();
    for words in [
        &["fork", "plan-1", "--id", "plan-b", "--label", "other"][..],
        &["append", "plan-b", "--text", "and now?"],
        &["rename", "plan-1", "Ship \u{1b}[31mit"],
        &["label", "plan-b", "plan-b"],
        &["detach", "plan-b"],
        &["delete", "plan-1", "--cascade"],
    ] {
        sandbox.ok(words);
    }
    sandbox
}

#[test]
fn people_see_what_was_done_and_take_it_back() {
    let sandbox = busy();
    let mut texts = Vec::new();
    for words in [
        &["op", "log"][..],
        &["op", "show", "4"],
        &["op", "undo", "--dry-run"],
        &["op", "undo"],
        &["op", "undo", "3"],
        &["op", "undo", "4"],
        &["op", "undo", "2"],
        &["op", "log", "--limit", "3"],
        &["op", "show", "3"],
        &["op", "show", "99"],
        &["rename", "plan-1", "Another title"],
        &["label", "plan-b", "plan-c"],
        &["op", "undo", "1"],
    ] {
        let ran = sandbox.run(words);
        texts.push(format!("$ forklore {}\n{}{}", words.join(" "), ran.out, ran.err));
    }
    snapshot!(texts.join("\n"));
    assert_eq!(sandbox.json(&["show", "plan-b"])["session"]["label"], "plan-c");
}

#[test]
fn scripts_get_the_same_as_json() {
    let sandbox = busy();
    let log = sandbox.json(&["op", "log", "--limit", "2"]);
    assert_eq!((&log["ok"], &log["next"]), (&json!(true), &json!(3)));
    let first = &log["operations"][0];
    assert_eq!(
        (&first["id"], &first["kind"], &first["undo"], &first["program"]),
        (&json!(4), &json!("delete"), &json!("possible"), &json!("forklore"))
    );
    let undone = sandbox.json(&["op", "undo", "4"]);
    let expected = json!({
        "ok": true, "operation": 4, "recorded_as": 5, "left": [], "dry_run": false,
        "outcomes": [{"outcome": "restored", "session_id": "plan-1", "head_seq": 6}],
    });
    assert_eq!(undone, expected);
    let (code, error) = sandbox.error(&["op", "undo", "4"]);
    assert_eq!((code, &error["kind"]), (4, &json!("conflict")));
    assert_eq!(error["details"], json!({"operation": 4, "undone_by": 5}));
    assert_eq!(error["next_actions"], json!(["forklore op undo 5"]));
    let (code, error) = sandbox.error(&["op", "undo", "3"]);
    assert_eq!((code, &error["kind"]), (5, &json!("unsupported")));
    let left = json!([{"session_id": "plan-b", "why": "detached"}]);
    assert_eq!(error["details"], json!({"operation": 3, "count": 1, "left": left}));
    assert_eq!(sandbox.error(&["op", "show", "77"]).1["kind"], "not_found");
    assert_eq!(sandbox.error(&["op", "undo", "seven"]).0, 2);
}

#[test]
fn a_hint_names_the_store_that_the_person_named() {
    let sandbox = Sandbox::new();
    let url = format!("files:{}", sandbox.path().join("own").display());
    sandbox.ok(&["--store", &url, "new", "--id", "a"]);
    let renamed = sandbox.run(&["--store", &url, "rename", "a", "Plan"]);
    let undo = format!("forklore --store {url} op undo");
    assert!(renamed.err.contains(&undo), "{}", renamed.err);
    let same = sandbox.run(&["--store", &url, "rename", "a", "Plan"]);
    assert!(!same.err.contains("op undo"), "{}", same.err);
}

#[test]
fn the_undo_of_an_import_says_how_to_import_again() {
    let sandbox = Sandbox::new();
    let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/pi/demo.jsonl");
    sandbox.file("pi.jsonl", &std::fs::read_to_string(demo).unwrap());
    let imported = sandbox.json(&["import", "pi.jsonl"]);
    let sessions = imported["sessions"].as_array().unwrap().len();
    let count = |words: &[&str]| sandbox.json(words)["sessions"].as_array().unwrap().len();
    assert_eq!(count(&["list", "--all"]), sessions);
    let undone = sandbox.run(&["op", "undo"]);
    let text = "A later import skips these sessions, unless it is run with --again.";
    assert!(undone.out.contains(text), "{}", undone.out);
    assert_eq!(count(&["list", "--all"]), 0);
    sandbox.run(&["import", "pi.jsonl"]);
    assert_eq!(count(&["list", "--all"]), 0);
    sandbox.ok(&["op", "undo", "2"]);
    assert_eq!(count(&["list", "--all"]), sessions);
}

#[test]
fn names_of_erased_sessions_are_gone_from_every_file() {
    let mut kinds = vec!["sqlite:", "files:"];
    if cfg!(feature = "graph") {
        kinds.push("graph:");
    }
    for kind in kinds {
        let sandbox = Sandbox::new();
        let url = format!("{kind}{}", sandbox.path().join("store").display());
        let run = |words: &[&str]| sandbox.ok(&[&["--store", &url], words].concat());
        run(&["new", "--id", "a"]);
        run(&["append", "a", "--text", "hello"]);
        run(&["fork", "a", "--id", "b"]);
        run(&["rename", "b", "a secret title"]);
        run(&["rename", "b", "another secret"]);
        run(&["label", "b", "secret-label"]);
        run(&["label", "b", "plain"]);
        run(&["delete", "b"]);
        run(&["gc"]);
        let texts = [&b"a secret title"[..], b"another secret", b"secret-label"];
        let there = || texts.map(|text| contains(sandbox.path(), text));
        assert_eq!(there(), [true; 3], "{url}");
        run(&["gc", "--now"]);
        assert_eq!(there(), [false; 3], "{url}");
        assert!(run(&["op", "log"]).contains("renamed"), "{url}");
        assert!(run(&["op", "show", "1"]).contains("another label or title, erased since"));
        run(&["verify"]);
    }
}

#[test]
fn a_person_confirms_an_undo_that_deletes() {
    let sandbox = Sandbox::with_a_plan();
    sandbox.ok(&["delete", "plan-1"]);
    sandbox.ok(&["op", "undo", "1"]);
    let question = "Undo operation 2? It deletes 1 session, which can be brought back for 30 days.";
    for (name, answer, left) in [("no", "n", 1), ("yes", "y", 0)] {
        let terminal = at_terminal(&sandbox, name, &["op", "undo", "2"]);
        terminal.until(question, |screen| screen.contains("30 days. [y/N]"));
        assert!(terminal.tmux(&["send-keys", answer, "Enter"]).status().unwrap().success());
        terminal.until("end", |screen| screen.contains("ended with"));
        let sessions = sandbox.json(&["list"])["sessions"].as_array().unwrap().len();
        assert_eq!(sessions, left, "{name}");
    }
    // Nothing is deleted, so nothing is asked.
    let terminal = at_terminal(&sandbox, "back", &["op", "undo", "3"]);
    terminal.until("end", |screen| screen.contains("ended with 0"));
}
