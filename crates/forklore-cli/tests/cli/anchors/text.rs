//! What people read, and bad input.

use std::fs;

use serde_json::json;

use super::victim::{ANCHORS, Victim};
use crate::sandbox::snapshot;

#[test]
fn people_read_what_was_anchored_and_what_differs() {
    let victim = Victim::sqlite();
    victim.seed();
    let mut text = String::new();
    for line in [
        "anchor plan --to one.jsonl",
        "anchor --all --to anchors.jsonl",
        "verify --anchors anchors.jsonl",
        "verify --anchors anchors.jsonl --exact",
        "delete other",
        "append plan --text late",
        "verify --anchors anchors.jsonl",
        "verify --anchors anchors.jsonl --exact",
        "verify --key anchors.jsonl",
        "verify --anchors nothing.jsonl",
    ] {
        let ran = victim.sandbox.run(&line.split(' ').collect::<Vec<_>>());
        if line.starts_with("anchor") || line.contains("anchors") {
            text += &format!("$ forklore {line}\n{}{}=> {}\n\n", ran.out, ran.err, ran.code);
        }
    }
    snapshot!(text);
    snapshot!(victim.ok(&["anchor", "--help"]));
}

#[test]
fn a_file_without_sound_anchors_is_refused() {
    let victim = Victim::sqlite();
    victim.seed();
    victim.anchor();
    let whole = fs::read_to_string(victim.path(ANCHORS)).unwrap();
    let refused = |text: &str| {
        victim.sandbox.file(ANCHORS, text);
        let (code, error) = victim.sandbox.error(&["verify", "--anchors", ANCHORS]);
        let message =
            error["message"].as_str().unwrap().replace(victim.path("").to_str().unwrap(), "");
        (code, message.split(':').next().unwrap().to_owned())
    };
    assert_eq!(refused(""), (2, "anchors.jsonl has no anchors".into()));
    assert_eq!(refused("\n\n"), (2, "anchors.jsonl has no anchors".into()));
    let torn = (6, "line 5 of anchors.jsonl is no anchor".into());
    assert_eq!(refused(&format!("{whole}{{\"session")), torn);
    let first = (6, "line 1 of anchors.jsonl is no anchor".into());
    assert_eq!(refused("{\"session_id\":\"../x\"}\n"), first);
    // Whatever is written later goes on a line of its own.
    victim.sandbox.file(ANCHORS, whole.trim_end());
    victim.anchor();
    assert_eq!(fs::read_to_string(victim.path(ANCHORS)).unwrap().lines().count(), 8);
    let (code, error) = victim.sandbox.error(&["anchor", "plan", "--all", "--to", ANCHORS]);
    assert_eq!((code, &error["kind"]), (2, &json!("invalid_args")));
    let (code, error) = victim.sandbox.error(&["anchor", "nobody", "--to", ANCHORS]);
    assert_eq!((code, &error["kind"]), (2, &json!("not_found")));
}
