//! Tests that a fork does exactly what its dry run reported.

use serde_json::{Value, json};

use crate::sandbox::{Sandbox, snapshot};

/// Removes the only fields in which the answers of a dry run and of its fork may differ.
fn settled(mut answer: Value) -> Value {
    for field in ["recorded", "dry_run", "apply"] {
        answer.as_object_mut().unwrap().remove(field);
    }
    answer
}

#[test]
fn a_dry_run_writes_nothing_and_is_complete() {
    let sandbox = Sandbox::with_a_plan();
    let before = sandbox.ok(&["--json", "tree", "--flat"]);
    let plan = sandbox.json(&[
        "fork",
        "plan-1",
        "--at",
        "turn:1",
        "--id",
        "plan-b",
        "--label",
        "b",
        "--dry-run",
    ]);
    assert_eq!(sandbox.ok(&["--json", "tree", "--flat"]), before);
    snapshot!(format!("{plan:#}"));
}

#[test]
fn the_command_of_a_plan_makes_exactly_that() {
    let sandbox = Sandbox::with_a_plan();
    for options in [
        &["--at", "turn:1"][..],
        &[],
        &["--tool-calls", "remove"],
        &["--at", "message:-1", "--title", "it's \"two\" words", "--principal", "alice b"],
        &["--permissions", "read,write", "--summarize", "--metadata", r#"{"a": 'x"#],
        &["--kind", "delegate", "--into-workspace", "/elsewhere"],
        &["--id-style", "ak-coder", "--strategy", "replay_v1"],
    ] {
        let options: Vec<&str> = options
            .iter()
            .map(|o| if *o == r#"{"a": 'x"# { r#"{"a": "it's"}"# } else { o })
            .collect();
        let plan = sandbox.json(&[&["fork", "plan-1", "--dry-run"][..], &options].concat());
        let apply = shell_words(plan["apply"].as_str().unwrap());
        let apply: Vec<&str> = apply.iter().skip(1).map(String::as_str).collect();
        let made = sandbox.json(&apply);
        assert_eq!(made["recorded"], true);
        // Equal even if open calls moved the cut: the suggested command contains the requested cut.
        assert_eq!(settled(made), settled(plan), "{options:?}");
    }
}

/// Splits a command line into arguments, as a shell does. Supports only single quotes.
fn shell_words(line: &str) -> Vec<String> {
    let (mut words, mut quoted) = (vec![String::new()], false);
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            '\'' => quoted = !quoted,
            '\\' if !quoted => words.last_mut().unwrap().extend(chars.next()),
            ' ' if !quoted => words.push(String::new()),
            c => words.last_mut().unwrap().push(c),
        }
    }
    words
}

#[test]
fn the_same_fork_with_the_same_id_answers_the_existing_child() {
    let sandbox = Sandbox::with_a_plan();
    let fork = |at: &str| ["fork", "plan-1", "--id", "plan-b", "--at", at].map(str::to_owned);
    let words = |fork: &[String; 6]| sandbox.json(&fork.each_ref().map(String::as_str));
    let made = words(&fork("turn:1"));
    let again = words(&fork("message:3"));
    assert_eq!((&made["recorded"], &again["recorded"]), (&json!(true), &json!(false)));
    assert_eq!(again["existing"], true);
    let (code, error) = sandbox.error(&["fork", "plan-1", "--id", "plan-b", "--at", "turn:2"]);
    assert_eq!((code, &error["kind"]), (4, &json!("already_exists")));
    assert!(
        sandbox
            .ok(&["fork", "plan-1", "--id", "plan-b", "--at", "turn:1"])
            .starts_with("Was there already")
    );
}

#[test]
fn what_to_do_about_open_calls_names_the_same_cut() {
    let sandbox = Sandbox::with_a_plan();
    let (_, error) =
        sandbox.error(&["fork", "plan-1", "--at", "message:1", "--tool-calls", "error"]);
    let hints = json!([
        "forklore fork plan-1 --at message:1 --tool-calls complete",
        "forklore fork plan-1 --at message:1 --tool-calls remove",
    ]);
    assert_eq!((&error["kind"], &error["next_actions"]), (&json!("conflict"), &hints));
    let (_, error) = sandbox.error(&["fork", "plan-1", "--tool-calls", "error"]);
    assert_eq!(error["next_actions"][0], "forklore fork plan-1 --tool-calls complete");
}

#[test]
fn ak_coder_forks_at_once_are_sessions_of_their_own() {
    let sandbox = Sandbox::with_a_plan();
    let words = ["--json", "--workspace", "/demo", "fork", "plan-1", "--id-style", "ak-coder"];
    let started: Vec<_> = (0..8)
        .map(|_| sandbox.command(&words).stdout(std::process::Stdio::piped()).spawn().unwrap())
        .collect();
    let mut ids: Vec<_> = started
        .into_iter()
        .map(|child| {
            let answer: Value =
                serde_json::from_slice(&child.wait_with_output().unwrap().stdout).unwrap();
            assert_eq!(answer["recorded"], true, "{answer}");
            answer["child_session_id"].as_str().unwrap().to_owned()
        })
        .collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 8, "{ids:?}");
}

#[test]
fn an_existing_child_that_differs_is_not_the_answer() {
    let sandbox = Sandbox::with_a_plan();
    let fork = ["fork", "plan-1", "--id", "plan-b"];
    sandbox.json(&fork);
    for (options, differs) in [
        (&["--permissions", "read"] as &[&str], "the permissions"),
        (&["--summarize"], "the summary"),
        (&["--summarize=model"], "the summary"),
        (&["--label", "b", "--metadata", "{}"], "the label and the metadata"),
    ] {
        let (code, error) = sandbox.error(&[&fork, options].concat());
        assert_eq!((code, &error["kind"]), (4, &json!("already_exists")));
        assert_eq!(error["details"]["differs"], differs);
    }
}

#[test]
fn a_summary_is_recorded_behind_the_prefix() {
    let sandbox = Sandbox::with_a_plan();
    let forked = sandbox.json(&["fork", "plan-1", "--id", "plan-b", "--summarize=model"]);
    assert_eq!(forked["would_record_branch_summary"], true);
    let log = sandbox.ok(&["--json", "log", "plan-b", "--own"]);
    let types: Vec<_> = log
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .map(|event| (event["seq"].as_u64().unwrap(), event["type"].as_str().unwrap().to_owned()))
        .collect();
    let expected = [(0, "session_fork"), (7, "tool_result"), (8, "branch_summary")];
    assert_eq!(types, expected.map(|(seq, kind)| (seq, kind.to_owned())));
}

#[test]
fn every_answer_names_the_same_positions() {
    let sandbox = Sandbox::with_a_plan();
    let cut = |at: &str| sandbox.json(&["fork", "plan-1", "--dry-run", "--at", at])["cut"].clone();
    let turn = cut("turn:1");
    assert_eq!(turn["seq"], 3);
    let event = format!("event:{}", turn["event_id"].as_str().unwrap());
    for same in ["message:3", "message:-3", "index:4", "seq:3", "seq:4", "turn:-2", &event] {
        assert_eq!(cut(same), turn, "{same}");
    }
    assert_eq!(sandbox.json(&["fork", "plan-1", "--dry-run", "--to-seq", "3"])["cut"], turn);
    let replayed = sandbox.ok(&["--json", "replay", "plan-1", "--up-to", "turn:1"]);
    let last: Value = serde_json::from_str(replayed.lines().last().unwrap()).unwrap();
    assert_eq!((&last["index"], &last["seq"]), (&turn["message"], &turn["seq"]));
}

#[test]
fn ak_coder_ids_name_parent_and_time() {
    let sandbox = Sandbox::with_a_plan();
    let forked = sandbox.json(&["fork", "plan-1", "--id-style", "ak-coder"]);
    let id = forked["child_session_id"].as_str().unwrap();
    let millis = id.strip_prefix("fork-plan-1-").unwrap();
    assert!(millis.len() == 13 && millis.parse::<u64>().is_ok(), "{id}");
}

#[test]
fn the_parent_is_the_same_to_the_byte() {
    let sandbox = Sandbox::with_a_plan();
    let before = sandbox.ok(&["--json", "log", "plan-1"]);
    sandbox.ok(&["fork", "plan-1", "--at", "turn:1", "--id", "plan-b"]);
    sandbox.append("plan-b", "{\"data\":{\"content\":\"on\"}}\n");
    assert_eq!(sandbox.ok(&["--json", "log", "plan-1"]), before);
}
