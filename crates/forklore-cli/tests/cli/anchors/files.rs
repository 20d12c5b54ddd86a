//! Lines that somebody adds to the file of a session.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::victim::Victim;

/// Returns the CRC-32 of a text as 8 hex digits.
fn sum(text: &str) -> String {
    let sum = text.bytes().fold(!0_u32, |sum, byte| {
        (0..8).fold(sum ^ u32::from(byte), |sum, _| {
            (sum >> 1) ^ (0xedb8_8320 & 0_u32.wrapping_sub(sum & 1))
        })
    });
    format!("{:08x}", !sum)
}

/// Completes a line, of which only the checksum and the closing brace are missing.
fn seal(fields: &str) -> String {
    format!("{fields},\"crc\":\"{}\"}}\n", sum(fields))
}

fn unsealed(line: &str) -> &str {
    line.rsplit_once(",\"crc\":").unwrap().0
}

/// Creates a store with anchors, and returns the file of the session `plan`.
fn anchored() -> (Victim, PathBuf) {
    let victim = Victim::files();
    victim.seed();
    victim.anchor();
    let folders = fs::read_dir(victim.path("store/workspaces")).unwrap();
    let mut files = folders.map(|folder| folder.unwrap().path().join("plan.jsonl"));
    (victim, files.find(|file| file.exists()).unwrap())
}

/// Returns an event line and the commit line of a step that would follow `text`.
fn forged(text: &str) -> (String, String) {
    let lines: Vec<_> = text.lines().collect();
    let [.., event, commit] = lines.as_slice() else { panic!("{text}") };
    let mut event = unsealed(event).to_owned();
    for (old, new) in [
        (r#"{"content":"u5"}"#, r#"{"content":"u6"}"#),
        (r#""seq":4,"#, r#""seq":5,"#),
        (r#""at":[5,5,5,80,0]"#, r#""at":[6,6,6,96,0]"#),
    ] {
        assert!(event.contains(old), "{event}");
        event = event.replace(old, new);
    }
    let event = seal(&event);
    let mut step: Value = serde_json::from_str(&format!("{}}}", unsealed(commit))).unwrap();
    step["from"] = json!(text.len());
    step["step"] = json!(sum(&event));
    step["commit"]["own_events"] = json!(6);
    step["commit"]["own_bytes"] = json!(96);
    step["commit"]["counts"] = json!({"kept": 6, "index": 6, "turns": 6, "bytes": 96, "open": 0});
    let commit = seal(step.to_string().strip_suffix('}').unwrap());
    (event, commit)
}

#[test]
fn a_line_without_a_commit_is_reported_with_exact() {
    let (victim, file) = anchored();
    let text = fs::read_to_string(&file).unwrap();
    let (event, _) = forged(&text);
    fs::write(&file, format!("{text}{event}")).unwrap();
    assert_eq!(victim.found(&[]), [""; 0]);
    assert_eq!(victim.found(&["--exact"]), ["plan unfinished"]);
    let report: Value = serde_json::from_str(&victim.ok(&["--json", "verify"])).unwrap();
    assert_eq!(report["unfinished"], json!(["plan"]));
    // The next write cuts it off.
    victim.ok(&["append", "plan", "--text", "u6"]);
    assert_eq!(victim.found(&["--exact"]), ["plan grown"]);
}

#[test]
fn a_line_with_a_commit_is_reported_with_exact() {
    let (victim, file) = anchored();
    let text = fs::read_to_string(&file).unwrap();
    let (event, commit) = forged(&text);
    fs::write(&file, format!("{text}{event}{commit}")).unwrap();
    assert!(victim.ok(&["log", "plan"]).contains("u6"));
    assert_eq!(victim.found(&[]), [""; 0]);
    assert_eq!(victim.found(&["--exact"]), ["plan grown"]);
}

#[test]
fn a_line_with_the_commit_of_another_step_is_reported_with_exact() {
    let (victim, file) = anchored();
    let text = fs::read_to_string(&file).unwrap();
    let last = text.lines().last().unwrap();
    fs::write(&file, format!("{text}{}{last}\n", forged(&text).0)).unwrap();
    assert!(!victim.ok(&["log", "plan"]).contains("u6"));
    assert_eq!(victim.found(&[]), [""; 0]);
    assert_eq!(victim.found(&["--exact"]), ["plan unfinished"]);
}
