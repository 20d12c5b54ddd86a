//! Exports sessions and imports the exported files again. The content must be the same.

use std::collections::HashSet;
use std::path::Path;

use forklore_core::{Content, Role, Selector, SessionId};
use forklore_engine::{ExportTo, Fork};
use serde_json::Value;

use crate::files::testdata;
use crate::scene::Scene;

/// Returns the messages that a model would receive. Tool results are reduced to their text, because
/// the export to Pi writes results without a native form in Pi's form.
fn messages(scene: &Scene, session: &SessionId) -> Vec<(Role, Content)> {
    let messages = scene.engine.inspect(session).unwrap().messages;
    let messages = messages.into_iter().map(|message| match message.role {
        Role::Tool => (Role::Tool, Content::Text(message.plain_text())),
        role => (role, message.content),
    });
    messages.collect()
}

/// Exports the session and returns the content of the agent's file.
fn exported(scene: &Scene, session: &SessionId, agent: &str) -> String {
    let request = ExportTo { dialect: agent.into(), at: None, cwd: None };
    let mut bytes = Vec::new();
    scene.engine.export_to(session, &request).unwrap().write(&mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

/// Asserts that Pi can continue the file: a header of the current version, then one chain of
/// records with unique ids.
fn assert_chain_of_pi(file: &str) {
    let lines = file.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let lines: Vec<Value> = lines.collect();
    assert_eq!((&lines[0]["type"], &lines[0]["version"]), (&"session".into(), &3.into()));
    let (mut tip, mut ids) = (Value::Null, HashSet::new());
    for line in &lines[1..] {
        assert_eq!(line["parentId"], tip, "{line}");
        tip = line["id"].clone();
        assert!(ids.insert(tip.as_str().unwrap().to_owned()), "{line}");
        // Only versions 1 and 2 of the format use this role.
        assert_ne!(line["message"]["role"], "hookMessage");
        if line["type"] == "compaction" {
            // Version 1 of the format named the first retained record only by its position.
            assert!(ids.contains(line["firstKeptEntryId"].as_str().unwrap()), "{line}");
        }
    }
}

/// Asserts that the records of the file form one chain. For a reader, the chain ends at a
/// compaction without a parent. Ids may be repeated only after such an end.
fn assert_chain_of_claude(file: &str) {
    let (mut tip, mut ids) = (Value::Null, HashSet::new());
    for line in file.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let Some(uuid) = line["uuid"].as_str() else { continue };
        let ends = line["subtype"] == "compact_boundary" && line["parentUuid"].is_null();
        if ends {
            ids.clear();
        }
        assert!(ids.insert(uuid.to_owned()), "{line}");
        assert_eq!(line[if ends { "logicalParentUuid" } else { "parentUuid" }], tip, "{line}");
        tip = line["uuid"].clone();
    }
}

fn every_cut_says_the_same(folder: &Path, agent: &str, assert_chain: fn(&str)) {
    let scene = Scene::new();
    let mut cuts = 0;
    for session in scene.import(folder).sessions {
        let header = scene.engine.show(&session.session_id).unwrap();
        for seq in 0..=header.head_seq() {
            let fork = Fork::of(header.id.clone()).at(Selector::Seq(seq));
            let Ok(fork) = scene.engine.fork(&fork) else { continue };
            let file = exported(&scene, &fork.child_session_id, agent);
            assert_chain(&file);
            let again = Scene::new();
            let report = again.import(&again.file("again.jsonl", file.as_bytes()));
            assert_eq!(report.problems, [], "{} at seq:{seq}", header.id);
            let read = messages(&again, &report.sessions[0].session_id);
            assert_eq!(
                read,
                messages(&scene, &fork.child_session_id),
                "{} at seq:{seq}",
                header.id
            );
            cuts += 1;
        }
    }
    assert!(cuts > 5, "{cuts}");
}

#[test]
fn forks_of_the_first_version_of_pi_go_on_in_the_present_one() {
    every_cut_says_the_same(&testdata().join("pi/v1"), "pi", assert_chain_of_pi);
}

#[test]
fn forks_of_the_second_version_of_pi_go_on_in_the_present_one() {
    every_cut_says_the_same(&testdata().join("pi/v2"), "pi", assert_chain_of_pi);
}

#[test]
fn forks_by_claude_code_continue_after_a_compaction() {
    let folder = testdata().join("claude/projects");
    every_cut_says_the_same(&folder, "claude", assert_chain_of_claude);
}

/// A session with a compaction that has a parent. Claude Code writes compactions without a parent,
/// but other programs write such files.
const JOINED: &str = r#"{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"first"}}
{"type":"assistant","uuid":"u2","parentUuid":"u1","sessionId":"s","message":{"role":"assistant","content":"one"}}
{"type":"system","subtype":"compact_boundary","uuid":"u3","parentUuid":"u2","sessionId":"s","message":{"role":"system","content":"left out"}}
{"type":"assistant","uuid":"u2","parentUuid":"u3","sessionId":"s","message":{"role":"assistant","content":"one"}}
{"type":"user","uuid":"u4","parentUuid":"u2","sessionId":"s","message":{"role":"user","content":"second"}}
{"type":"assistant","uuid":"u5","parentUuid":"u4","sessionId":"s","message":{"role":"assistant","content":"two"}}
{"type":"user","uuid":"u6","parentUuid":"u5","sessionId":"s","message":{"role":"user","content":"third"}}
"#;

#[test]
fn a_compaction_that_has_a_parent_does_not_end_the_chain() {
    let scene = Scene::new();
    let folder = scene.folder.path().join("projects");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("joined.jsonl"), JOINED).unwrap();
    every_cut_says_the_same(&folder, "claude", assert_chain_of_claude);
    let report = scene.import(&folder);
    let file = exported(&scene, &report.sessions[0].session_id, "claude");
    let parents: Vec<Value> = file
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["parentUuid"].clone())
        .collect();
    assert_eq!(parents[..4], [Value::Null, "u1".into(), "u2".into(), "u3".into()]);
    assert_eq!(parents[5..], ["u4", "u5"]);
    assert!(!["u1", "u2", "u3"].contains(&parents[4].as_str().unwrap()), "one id, one record");
}
