//! Tests with damaged stores and with hostile command lines.

use std::process::Command;

use serde_json::{Value, json};

use crate::sandbox::{Sandbox, ran};

/// Creates the session `plan-1`, its fork, and a session of another family. Then damages the store:
/// runs `sql` on its file.
fn damaged(sql: &str) -> Sandbox {
    let sandbox = Sandbox::with_a_plan();
    sandbox.ok(&["fork", "plan-1", "--id", "plan-b", "--at", "turn:1"]);
    sandbox.ok(&["append", "plan-b", "--text", "another way"]);
    sandbox.ok(&["new", "--id", "note", "--metadata", "{\"a\":1}"]);
    sandbox.ok(&["append", "note", "--text", "apart"]);
    rusqlite::Connection::open(sandbox.store()).unwrap().execute_batch(sql).unwrap();
    sandbox
}

fn problems(sandbox: &Sandbox) -> Vec<(Value, Value)> {
    let ran = ran(sandbox.command(&["--json", "verify"]));
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    let failed = (ran.code, &report["ok"], &report["error"]["kind"]);
    assert_eq!(failed, (6, &json!(false), &json!("corrupt")), "{report}");
    let problems = report["problems"].as_array().unwrap();
    problems.iter().map(|one| (one["session_id"].clone(), one["kind"].clone())).collect()
}

#[test]
fn verify_names_a_damaged_header_and_goes_on() {
    for (sql, session) in [
        ("UPDATE session SET kind = 77 WHERE id = 'plan-b'", json!("plan-b")),
        ("UPDATE session SET label = char(27) WHERE id = 'plan-b'", json!("plan-b")),
        ("UPDATE session SET id = char(27) WHERE id = 'plan-b'", json!(null)),
        ("UPDATE session_note SET metadata = '{not json'", json!("note")),
    ] {
        let sandbox = damaged(sql);
        assert_eq!(problems(&sandbox), [(session, json!("corrupt"))], "{sql}");
        assert_eq!(sandbox.run(&["log", "plan-1"]).code, 0, "{sql}");
    }
}

#[test]
fn verify_notices_a_header_that_forgot_events() {
    for sql in [
        "UPDATE session SET own_events = 5, kept = 5, idx = 5, turns = 1 WHERE id = 'plan-1'",
        "UPDATE session SET idx = idx + 1 WHERE id = 'plan-1'",
    ] {
        assert_eq!(problems(&damaged(sql)), [(json!("plan-1"), json!("corrupt"))], "{sql}");
    }
    let lost = damaged("DELETE FROM ancestry");
    assert_eq!(problems(&lost), [(json!("plan-b"), json!("missing_ancestor"))]);
}

#[test]
fn tables_that_are_gone_are_damage() {
    let sandbox = damaged("DROP TABLE event");
    let (code, error) = sandbox.error(&["log", "plan-1"]);
    assert_eq!((code, &error["kind"]), (6, &json!("corrupt")), "{error}");
    let sandbox = damaged("PRAGMA user_version = 0");
    let (code, error) = sandbox.error(&["list"]);
    assert_eq!((code, &error["kind"]), (6, &json!("corrupt")), "{error}");
    assert!(!error["message"].as_str().unwrap().contains('\n'), "{error}");
}

#[test]
fn a_long_chain_of_labels_is_read_without_recursion() {
    let sandbox = Sandbox::with_a_plan();
    sandbox.ok(&["fork", "plan-1", "--id", "plan-b", "--label", "b"]);
    let there = format!("plan-1{}", "@b@main".repeat(3));
    assert_eq!(sandbox.json(&["show", &there])["session"]["id"], "plan-1");
    let nowhere = format!("a{}", "@b".repeat(30_000));
    assert_eq!(sandbox.error(&["show", &nowhere]).0, 2);
}

#[test]
fn standard_input_that_is_no_text_is_refused_with_its_line() {
    let sandbox = Sandbox::with_a_plan();
    let bytes = sandbox.path().join("bytes");
    std::fs::write(&bytes, b"{\"data\":{\"content\":\"x\"}}\n\xff\xfe\n").unwrap();
    let mut command: Command = sandbox.command(&["--json", "append", "plan-1"]);
    command.stdin(std::fs::File::open(bytes).unwrap());
    let output = command.output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let output = (output.status.code(), &answer["error"]["kind"], &answer["error"]["message"]);
    assert_eq!(output, (Some(2), &json!("invalid_args"), &json!("line 2: not UTF-8")));
    assert_eq!(sandbox.json(&["show", "plan-1"])["session"]["head_seq"], 6);
}

#[cfg(unix)]
#[test]
fn a_link_to_a_store_is_that_store_and_a_dangling_one_is_none() {
    let sandbox = Sandbox::with_a_plan();
    let link = sandbox.path().join("link.db");
    std::os::unix::fs::symlink(sandbox.store(), &link).unwrap();
    let through = format!("sqlite:{}", link.display());
    let shown = ran(sandbox.command(&["--store", &through, "append", "plan-1", "--text", "x"]));
    assert_eq!(shown.code, 0, "{shown:?}");
    assert!(!sandbox.path().join("link.db-lock").exists());
    std::fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink(sandbox.path().join("gone.db"), &link).unwrap();
    let refused = ran(sandbox.command(&["--store", &through, "--json", "new"]));
    assert_eq!(refused.code, 5, "{refused:?}");
    assert!(link.is_symlink() && !sandbox.path().join("gone.db").exists());
}
