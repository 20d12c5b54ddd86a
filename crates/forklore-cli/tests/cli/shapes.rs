//! Snapshots of the JSON answers, command by command.

use serde_json::Value;

use crate::sandbox::{Sandbox, snapshot};

fn pretty(value: &Value) -> String {
    format!("{value:#}")
}

fn family() -> Sandbox {
    let sandbox = Sandbox::with_a_plan();
    sandbox.ok(&["fork", "plan-1", "--at", "turn:1", "--id", "plan-b", "--label", "plan-b"]);
    sandbox.append("plan-b", "{\"data\":{\"content\":\"No, plan A.\"}}\n");
    sandbox
}

#[test]
fn sessions() {
    let sandbox = family();
    let made = sandbox.json(&[
        "new",
        "--id",
        "plan-2",
        "--metadata",
        r#"{"n":1.0}"#,
        "--principal",
        "alice",
    ]);
    let shown = sandbox.json(&["show", "plan-b"]);
    let labelled = sandbox.json(&["label", "plan-b", "other"]);
    assert_eq!(labelled["session"]["label"], "other");
    snapshot!(format!("{}\n{}", pretty(&made), pretty(&shown)));
}

#[test]
fn append_says_where_the_events_are() {
    let sandbox = Sandbox::with_a_plan();
    let line = r#"{"type":"x.mark","class":"evidence","id":"mark-1","ts":"2026-01-02T03:04:05Z","data":{"a":1.50}}"#;
    let first = sandbox.feed(&["--json", "append", "plan-1", "--expect", "6"], line).out;
    let again = sandbox.feed(&["--json", "append", "plan-1", "--expect", "6"], line).out;
    assert_eq!(first, again);
    let log = sandbox.ok(&["--json", "log", "plan-1", "--from", "7"]);
    snapshot!(format!("{first}{log}"));
}

#[test]
fn log_and_replay_are_lines() {
    let sandbox = family();
    snapshot!(format!(
        "{}---\n{}",
        sandbox.ok(&["--json", "log", "plan-b"]),
        sandbox.ok(&["--json", "replay", "plan-b", "--up-to", "message:-2"])
    ));
}

#[test]
fn inspect() {
    snapshot!(pretty(&Sandbox::with_a_plan().json(&["inspect", "plan-1"])));
}

#[test]
fn trees_are_nested_or_flat() {
    let sandbox = family();
    let nested = sandbox.json(&["tree", "plan-b"]);
    let flat = sandbox.ok(&["--json", "tree", "--flat"]);
    let cut = sandbox.json(&["tree", "--depth", "1"]);
    assert_eq!(
        (&cut["trees"][0]["truncated"], &cut["trees"][0]["descendants"]),
        (&true.into(), &1.into())
    );
    snapshot!(format!("{}\n{flat}", pretty(&nested)));
}

#[test]
fn a_deep_tree_is_cut_at_thirty_two_levels() {
    let sandbox = Sandbox::with_a_plan();
    let mut parent = "plan-1".to_owned();
    for level in 1..=40 {
        let id = format!("deep-{level}");
        sandbox.ok(&["fork", "-q", &parent, "--id", &id]);
        parent = id;
    }
    let levels = |depth: &[&str]| {
        let tree = sandbox.json(&[&["tree"], depth].concat());
        let (mut node, mut levels) = (&tree["trees"][0], 1);
        while let Some(child) = node["children"].get(0) {
            (node, levels) = (child, levels + 1);
        }
        (levels, node.get("descendants").and_then(Value::as_u64))
    };
    assert_eq!(levels(&[]), (32, Some(9)));
    assert_eq!(levels(&["--depth", "60"]), (41, None));
    assert_eq!(sandbox.ok(&["--json", "tree", "--flat"]).lines().count(), 41);
    assert!(sandbox.ok(&["tree"]).lines().last().unwrap().contains("... 9 sessions below"));
}

#[test]
fn families() {
    let sandbox = family();
    let answers = [
        sandbox.json(&["branches", "plan-b"]),
        sandbox.json(&["lineage", "plan-b"]),
        sandbox.json(&["diff", "plan-1", "plan-b"]),
        sandbox.json(&["stats", "plan-1"]),
        sandbox.json(&["verify"]),
    ];
    snapshot!(answers.iter().map(pretty).collect::<Vec<_>>().join("\n"));
}

#[test]
fn bring_reports_what_it_recorded_and_where() {
    let sandbox = family();
    let bring = ["bring", "plan-b", "--into", "plan-1"];
    let planned = sandbox.json(&[&bring[..], &["--dry-run"]].concat());
    let brought = sandbox.json(&bring);
    let again = sandbox.json(&bring);
    let answer = sandbox.json(&["inspect", "plan-1"]);
    let reported = answer["messages"].as_array().unwrap().last().unwrap().clone();
    snapshot!(
        [planned, brought, again, reported].iter().map(pretty).collect::<Vec<_>>().join("\n")
    );
}

#[test]
fn removal() {
    let sandbox = family();
    let answers = [
        sandbox.json(&["detach", "plan-b"]),
        sandbox.json(&["delete", "plan-1", "--dry-run"]),
        sandbox.json(&["delete", "plan-1"]),
        sandbox.json(&["gc"]),
        sandbox.json(&["pack"]),
    ];
    snapshot!(answers.iter().map(pretty).collect::<Vec<_>>().join("\n"));
}

#[test]
fn pages_follow_each_other() {
    let sandbox = Sandbox::with_a_plan();
    for child in ["a", "b", "c", "d", "e"] {
        sandbox.ok(&["fork", "-q", "plan-1", "--id", child, "--at", "turn:1"]);
    }
    for (words, list, id) in [
        (&["list"][..], "sessions", "id"),
        (&["branches", "plan-1"], "branches", "session_id"),
        (&["lineage", "plan-1", "--children"], "children", "session_id"),
    ] {
        let ids = |answer: &Value| -> Vec<String> {
            let items = answer[list].as_array().unwrap();
            items.iter().map(|item| item[id].as_str().unwrap().to_owned()).collect()
        };
        let all = sandbox.json(&[words, &["--limit", "0"]].concat());
        assert!(all.get("next").is_none());
        let mut paged = Vec::new();
        let mut page = sandbox.json(&[words, &["--limit", "2"]].concat());
        paged.extend(ids(&page));
        while let Some(next) = page.get("next").and_then(Value::as_str).map(str::to_owned) {
            page = sandbox.json(&[words, &["--limit", "2", "--after", &next]].concat());
            paged.extend(ids(&page));
        }
        assert_eq!(paged, ids(&all), "{words:?}");
    }
}
