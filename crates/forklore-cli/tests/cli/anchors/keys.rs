//! Anchors that are signed with a key.

use std::fs;

use serde_json::{Value, json};

use super::victim::{ANCHORS, Victim};

/// Creates a store with signed anchors, and the key in the file `key`.
fn signed() -> Victim {
    let victim = Victim::sqlite();
    victim.seed();
    victim.sandbox.file("key", "correct horse battery staple\n");
    victim.ok(&["anchor", "--all", "--to", ANCHORS, "--key", "key"]);
    victim
}

/// Changes each line of the file with anchors.
fn edit(victim: &Victim, change: impl Fn(&mut Value)) {
    let text = fs::read_to_string(victim.path(ANCHORS)).unwrap();
    let lines = text.lines().map(|line| {
        let mut anchor: Value = serde_json::from_str(line).unwrap();
        change(&mut anchor);
        format!("{anchor}\n")
    });
    fs::write(victim.path(ANCHORS), lines.collect::<String>()).unwrap();
}

const ALL_FORGED: [&str; 4] = ["branch forged", "other forged", "plan forged", "twig forged"];

fn found(victim: &Victim, key: &str) -> Vec<String> {
    victim.found(&["--key", key])
}

#[test]
fn only_the_key_makes_anchors() {
    let victim = signed();
    assert_eq!(found(&victim, "key"), [""; 0]);
    assert_eq!(victim.found(&[]), [""; 0]);
    victim.sandbox.file("other", "another key");
    assert_eq!(found(&victim, "other"), ALL_FORGED);
    for (field, value) in [
        ("seq", json!(0)),
        ("chain", json!("00")),
        ("lineage", json!("00")),
        ("settings", json!("00")),
        ("at", json!("2026-01-01T00:00:00Z")),
        ("store", json!(null)),
        ("hmac", json!(null)),
        ("hmac", json!("no digits")),
    ] {
        let victim = signed();
        edit(&victim, |anchor| anchor[field] = value.clone());
        assert_eq!(found(&victim, "key"), ALL_FORGED, "{field}");
    }
    let victim = signed();
    edit(&victim, |anchor| anchor["session_id"] = json!("plan"));
    assert_eq!(found(&victim, "key"), ["plan forged"; 3]);
}

#[test]
fn the_variable_has_the_key_too() {
    let victim = signed();
    let url = victim.url();
    let run = |words: &[&str], key: &str| {
        let mut command = victim.sandbox.command(&[&["--store", &url, "--all"], words].concat());
        command.env("FORKLORE_ANCHOR_KEY", key);
        crate::sandbox::ran(command)
    };
    let verify = ["verify", "--anchors", ANCHORS];
    assert_eq!(run(&verify, "correct horse battery staple").code, 0);
    let other = run(&verify, "another key");
    assert_eq!(other.code, 6);
    assert!(!other.out.contains("another key") && !other.err.contains("another key"), "{other:?}");
    let ran = run(&["anchor", "--to", "more.jsonl"], "correct horse battery staple");
    assert_eq!(ran.code, 0, "{ran:?}");
    fs::copy(victim.path("more.jsonl"), victim.path(ANCHORS)).unwrap();
    assert_eq!(found(&victim, "key"), [""; 0]);
    let empty = run(&["anchor", "--to", "empty.jsonl"], "");
    assert_eq!((empty.code, victim.path("empty.jsonl").exists()), (2, false), "{empty:?}");
}
