//! Tests of the trash: deletes that can be undone, and the erasure of what is in the trash.

use std::path::Path;

use serde_json::{Value, json};

use crate::sandbox::{Sandbox, ran};
use crate::terminal::Terminal;

/// Creates a store of a kind, with a family whose sessions have a text that nothing else has.
fn family(url: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    let url = format!("{url}{}", sandbox.path().join("store").display());
    for words in [
        &["new", "--id", "root", "--title", "a secret title", "--principal", "did:secret"][..],
        &["append", "root", "--text", "a secret question"],
        &["fork", "root", "--id", "branch", "--label", "plan-b"],
        &["append", "branch", "--text", "a secret answer"],
    ] {
        sandbox.ok(&[&["--store", &url], words].concat());
    }
    sandbox
}

/// Checks whether any file in a folder, or below it, contains a text.
pub(crate) fn contains(path: &Path, text: &[u8]) -> bool {
    if path.is_dir() {
        let inside = std::fs::read_dir(path).unwrap();
        return inside.into_iter().any(|entry| contains(&entry.unwrap().path(), text));
    }
    let bytes = std::fs::read(path).unwrap();
    bytes.windows(text.len()).any(|window| window == text)
}

#[test]
fn the_answers_for_people_name_the_way_back() {
    let sandbox = Sandbox::with_a_plan();
    sandbox.ok(&["fork", "plan-1", "--id", "plan-b", "--label", "other"]);
    sandbox.ok(&["append", "plan-b", "--text", "and now?"]);
    let log = sandbox.ok(&["log", "plan-b"]);
    let deleted = sandbox.run(&["delete", "plan-b"]);
    let listed = sandbox.run(&["list", "--deleted"]);
    let refused = sandbox.run(&["show", "plan-b"]);
    assert_eq!(refused.code, 2, "{refused:?}");
    let back = sandbox.run(&["undelete", "@other"]);
    let again = sandbox.run(&["undelete", "plan-b"]);
    let none = sandbox.run(&["list", "--deleted"]);
    let texts = [deleted, listed, refused, back, again, none].map(|ran| ran.out + &ran.err);
    insta::assert_snapshot!(texts.join("---\n"));
    assert_eq!(sandbox.ok(&["log", "plan-b"]), log);
}

#[test]
fn the_answers_of_scripts_name_what_came_back() {
    let sandbox = Sandbox::with_a_plan();
    sandbox.ok(&["fork", "plan-1", "--id", "b", "--label", "idea"]);
    let deleted = sandbox.json(&["delete", "b"]);
    let expected = json!({"ok": true, "deleted": ["b"], "kept_segments": 0, "dry_run": false});
    assert_eq!(deleted, expected);
    let trash = sandbox.json(&["list", "--deleted"]);
    assert_eq!(trash["sessions"][0]["id"], "b");
    assert!(trash["sessions"][0]["deleted_at"].is_string(), "{trash}");
    sandbox.ok(&["fork", "plan-1", "--id", "c", "--label", "idea"]);
    let (code, error) = sandbox.error(&["fork", "b"]);
    assert_eq!((code, &error["kind"]), (2, &json!("not_found")), "{error}");
    assert_eq!(error["next_actions"], json!(["forklore undelete b"]));
    let back = sandbox.json(&["undelete", "b"]);
    let one = &back["undeleted"][0];
    assert_eq!((&one["session_id"], &one["former_label"]), (&json!("b"), &json!("idea")));
    assert_eq!(sandbox.json(&["show", "b"])["session"]["label"], one["label"]);
    assert_eq!(sandbox.json(&["undelete", "b"]), json!({"ok": true, "undeleted": []}));
    sandbox.ok(&["delete", "b", "--erase"]);
    assert_eq!(sandbox.error(&["undelete", "b"]).1["kind"], "not_found");
    assert_eq!(sandbox.error(&["gc", "--trash-older-than", "soon"]).0, 2);
}

#[test]
fn what_has_no_title_is_listed_with_its_first_words() {
    for url in ["sqlite:", "files:", "graph:"] {
        let sandbox = Sandbox::new();
        let url = format!("{url}{}", sandbox.path().join("store").display());
        let ok = |words: &[&str]| sandbox.ok(&[&["--store", &url], words].concat());
        ok(&["new", "--id", "plan"]);
        ok(&["append", "plan", "--text", "which parser is faster?"]);
        ok(&["delete", "plan", "--yes"]);
        assert!(ok(&["list", "--deleted"]).contains("which parser is faster?"), "{url}");
        let trash = sandbox.json(&["--store", &url, "list", "--deleted"]);
        assert_eq!(trash["sessions"][0]["first_words"], "which parser is faster?");
        ok(&["gc", "--now", "--yes"]);
        assert!(!ok(&["list", "--deleted"]).contains("parser"), "{url}");
    }
}

#[test]
fn what_was_deleted_is_found_from_any_folder_and_as_the_last() {
    let sandbox = Sandbox::with_a_plan();
    sandbox.ok(&["fork", "plan-1", "--id", "b", "--label", "idea"]);
    let elsewhere =
        |words: &[&str]| ran(sandbox.command(&[&["--workspace", "/elsewhere"], words].concat()));
    assert_eq!(elsewhere(&["delete", "@idea", "--yes"]).code, 0);
    let back = elsewhere(&["undelete", "@idea"]);
    assert_eq!(back.code, 0, "{back:?}");
    sandbox.ok(&["delete", "b", "--yes"]);
    let none = elsewhere(&["undelete", "last"]);
    assert_eq!(none.code, 2, "{none:?}");
    assert!(none.err.contains("try: forklore list --deleted --all"), "{none:?}");
    assert!(sandbox.ok(&["undelete", "last"]).contains("idea"));
}

#[test]
fn bytes_stay_until_the_erasure_and_no_longer() {
    let mut kinds = vec!["sqlite:", "files:"];
    if cfg!(feature = "graph") {
        kinds.push("graph:");
    }
    for kind in kinds {
        let sandbox = family(kind);
        let store = sandbox.path().join("store");
        let url = format!("{kind}{}", store.display());
        let run = |words: &[&str]| sandbox.ok(&[&["--store", &url], words].concat());
        let texts =
            [&b"a secret title"[..], b"did:secret", b"a secret question", b"a secret answer"];
        let there = || texts.map(|text| contains(sandbox.path(), text));
        run(&["delete", "root", "--cascade"]);
        run(&["gc"]);
        assert_eq!(there(), [true; 4], "{url}");
        run(&["undelete", "root", "--cascade"]);
        assert!(run(&["replay", "branch"]).contains("a secret answer"), "{url}");
        run(&["delete", "branch", "--erase"]);
        run(&["gc"]);
        assert_eq!(there(), [true, true, true, false], "{url}");
        run(&["delete", "root"]);
        let freed = run(&["--json", "gc", "--now"]);
        let freed: Value = serde_json::from_str(&freed).unwrap();
        assert_eq!(freed["sessions"], 1, "{url}");
        assert_eq!(there(), [false; 4], "{url}");
        run(&["verify"]);
    }
}

#[test]
fn a_file_that_grew_meanwhile_is_read_on_afterwards() {
    let sandbox = Sandbox::new();
    let pi = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/pi/demo.jsonl");
    let whole = std::fs::read_to_string(pi).unwrap();
    let half: String = whole.split_inclusive('\n').take(8).collect();
    let file = sandbox.file("pi.jsonl", &half);
    let report = sandbox.json(&["import", "pi.jsonl"]);
    let session = report["sessions"][0]["session_id"].as_str().unwrap().to_owned();
    sandbox.ok(&["delete", &session, "--cascade"]);
    assert_eq!(sandbox.error(&["restore", &session, "-o", "out"]).1["kind"], "not_found");
    std::fs::write(&file, &whole).unwrap();
    sandbox.run(&["import", "pi.jsonl"]);
    sandbox.ok(&["undelete", &session, "--cascade"]);
    sandbox.ok(&["restore", &session, "-o", "before"]);
    assert_eq!(std::fs::read_to_string(sandbox.path().join("before")).unwrap(), half);
    sandbox.ok(&["import", "pi.jsonl"]);
    sandbox.ok(&["restore", &session, "-o", "after"]);
    assert_eq!(std::fs::read_to_string(sandbox.path().join("after")).unwrap(), whole);
}

/// Runs a command of the program at a terminal, which then shows how it ended.
pub(crate) fn at_terminal<'a>(
    sandbox: &'a Sandbox,
    name: &'static str,
    words: &[&str],
) -> Terminal<'a> {
    let program = env!("CARGO_BIN_EXE_forklore");
    let script = format!("{program} --workspace /demo {}; echo ended with $?", words.join(" "));
    Terminal::running(sandbox, name, &["sh", "-c", &script])
}

#[test]
fn a_person_confirms_before_anything_is_deleted() {
    let sandbox = Sandbox::with_a_plan();
    sandbox.ok(&["fork", "plan-1", "--id", "plan-b"]);
    let listed = |words: &[&str]| {
        let page = sandbox.json(&[&["list"], words].concat());
        page["sessions"].as_array().unwrap().len()
    };
    let answers = |name, words: &[&str], question: &str, answer: &str| {
        let terminal = at_terminal(&sandbox, name, words);
        terminal.until(question, |screen| screen.contains(question));
        assert!(terminal.tmux(&["send-keys", answer, "Enter"]).status().unwrap().success());
        terminal.until("end", |screen| screen.contains("ended with"))
    };
    let delete = ["delete", "plan-1", "--cascade"];
    let question = "Delete 2 sessions? They can be brought back for 30 days. [y/N]";
    let screen = answers("no", &delete, question, "n");
    assert!(screen.contains("nothing was deleted"), "{screen}");
    assert_eq!(listed(&[]), 2);
    answers("yes", &delete, question, "y");
    assert_eq!((listed(&[]), listed(&["--deleted"])), (0, 2));
    let question = "Erase 2 deleted sessions? Nothing brings them back. [y/N]";
    answers("keep", &["gc", "--now"], question, "");
    assert_eq!(listed(&["--deleted"]), 2);
    let question = "Erase 1 session? Nothing brings them back. [y/N]";
    answers("erase", &["delete", "plan-b", "--erase"], question, "y");
    assert_eq!(listed(&["--deleted"]), 1);
    let silent = at_terminal(&sandbox, "silent", &["gc", "--now", "--yes"]);
    let screen = silent.until("end", |screen| screen.contains("ended with"));
    assert!(!screen.contains("[y/N]"), "{screen}");
    assert_eq!(listed(&["--deleted"]), 0);
}
