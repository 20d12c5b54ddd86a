//! The JSON answers, verb by verb, as scripts rely on them.

use serde_json::Value;

use crate::place::{Place, snapshot};

fn pretty(value: &Value) -> String {
    format!("{value:#}")
}

fn family() -> Place {
    let place = Place::with_a_plan();
    place.ok(&["fork", "plan-1", "--at", "turn:1", "--id", "plan-b", "--label", "plan-b"]);
    place.append("plan-b", "{\"data\":{\"content\":\"No, plan A.\"}}\n");
    place
}

#[test]
fn sessions() {
    let place = family();
    let made = place.json(&[
        "new",
        "--id",
        "plan-2",
        "--metadata",
        r#"{"n":1.0}"#,
        "--principal",
        "alice",
    ]);
    let shown = place.json(&["show", "plan-b"]);
    let labelled = place.json(&["label", "plan-b", "other"]);
    assert_eq!(labelled["session"]["label"], "other");
    snapshot!(format!("{}\n{}", pretty(&made), pretty(&shown)));
}

#[test]
fn append_says_where_the_events_are() {
    let place = Place::with_a_plan();
    let line = r#"{"type":"x.mark","class":"evidence","id":"mark-1","ts":"2026-01-02T03:04:05Z","data":{"a":1.50}}"#;
    let first = place.feed(&["--json", "append", "plan-1", "--expect", "6"], line).out;
    let again = place.feed(&["--json", "append", "plan-1", "--expect", "6"], line).out;
    assert_eq!(first, again);
    let log = place.ok(&["--json", "log", "plan-1", "--from", "7"]);
    snapshot!(format!("{first}{log}"));
}

#[test]
fn log_and_replay_are_lines() {
    let place = family();
    snapshot!(format!(
        "{}---\n{}",
        place.ok(&["--json", "log", "plan-b"]),
        place.ok(&["--json", "replay", "plan-b", "--up-to", "message:-2"])
    ));
}

#[test]
fn inspect() {
    snapshot!(pretty(&Place::with_a_plan().json(&["inspect", "plan-1"])));
}

#[test]
fn trees_are_nested_or_flat() {
    let place = family();
    let nested = place.json(&["tree", "plan-b"]);
    let flat = place.ok(&["--json", "tree", "--flat"]);
    let cut = place.json(&["tree", "--depth", "1"]);
    assert_eq!(
        (&cut["trees"][0]["truncated"], &cut["trees"][0]["descendants"]),
        (&true.into(), &1.into())
    );
    snapshot!(format!("{}\n{flat}", pretty(&nested)));
}

#[test]
fn a_deep_tree_is_cut_at_thirty_two_levels() {
    let place = Place::with_a_plan();
    let mut parent = "plan-1".to_owned();
    for level in 1..=40 {
        let id = format!("deep-{level}");
        place.ok(&["fork", "-q", &parent, "--id", &id]);
        parent = id;
    }
    let levels = |depth: &[&str]| {
        let tree = place.json(&[&["tree"], depth].concat());
        let (mut node, mut levels) = (&tree["trees"][0], 1);
        while let Some(child) = node["children"].get(0) {
            (node, levels) = (child, levels + 1);
        }
        (levels, node.get("descendants").and_then(Value::as_u64))
    };
    assert_eq!(levels(&[]), (32, Some(9)));
    assert_eq!(levels(&["--depth", "60"]), (41, None));
    assert_eq!(place.ok(&["--json", "tree", "--flat"]).lines().count(), 41);
    assert!(place.ok(&["tree"]).lines().last().unwrap().contains("... 9 sessions below"));
}

#[test]
fn families() {
    let place = family();
    let answers = [
        place.json(&["branches", "plan-b"]),
        place.json(&["lineage", "plan-b"]),
        place.json(&["diff", "plan-1", "plan-b"]),
        place.json(&["stats", "plan-1"]),
        place.json(&["verify"]),
    ];
    snapshot!(answers.iter().map(pretty).collect::<Vec<_>>().join("\n"));
}

#[test]
fn bring_reports_what_it_recorded_and_where() {
    let place = family();
    let bring = ["bring", "plan-b", "--into", "plan-1"];
    let planned = place.json(&[&bring[..], &["--dry-run"]].concat());
    let brought = place.json(&bring);
    let again = place.json(&bring);
    let told = place.json(&["inspect", "plan-1"]);
    let told = told["messages"].as_array().unwrap().last().unwrap().clone();
    snapshot!([planned, brought, again, told].iter().map(pretty).collect::<Vec<_>>().join("\n"));
}

#[test]
fn removal() {
    let place = family();
    let answers = [
        place.json(&["detach", "plan-b"]),
        place.json(&["delete", "plan-1", "--dry-run"]),
        place.json(&["delete", "plan-1"]),
        place.json(&["gc"]),
        place.json(&["pack"]),
    ];
    snapshot!(answers.iter().map(pretty).collect::<Vec<_>>().join("\n"));
}

#[test]
fn pages_follow_each_other() {
    let place = Place::with_a_plan();
    for child in ["a", "b", "c", "d", "e"] {
        place.ok(&["fork", "-q", "plan-1", "--id", child, "--at", "turn:1"]);
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
        let all = place.json(&[words, &["--limit", "0"]].concat());
        assert!(all.get("next").is_none());
        let mut paged = Vec::new();
        let mut page = place.json(&[words, &["--limit", "2"]].concat());
        paged.extend(ids(&page));
        while let Some(next) = page.get("next").and_then(Value::as_str).map(str::to_owned) {
            page = place.json(&[words, &["--limit", "2", "--after", &next]].concat());
            paged.extend(ids(&page));
        }
        assert_eq!(paged, ids(&all), "{words:?}");
    }
}
