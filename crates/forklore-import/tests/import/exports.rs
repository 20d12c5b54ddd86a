//! Exports sessions and imports the exported files again. The content must be the same.

mod akcoder_reader;
mod amplifier_reader;
mod installed;
mod lineages;
mod pixir_reader;
mod read_again;

use std::collections::HashSet;
use std::path::Path;

use forklore_core::{Content, Role, Selector, SessionId};
use forklore_engine::{ExportTo, Fork};
use serde_json::Value;

use crate::files::testdata;
use crate::scene::Scene;

/// Returns the messages that a model would receive. Tool results are reduced to their text, because
/// the export to Pi converts results that are not in Pi's form to that form.
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

#[test]
fn the_times_of_a_document_for_opencode_never_fall() {
    let mut fell = 0;
    for folder in ["claude/projects", "codex/home", "pi/genuine", "pi/sessions"] {
        let scene = Scene::new();
        scene.import(&testdata().join(folder));
        for header in scene.sessions() {
            let events = scene.events(&header.id);
            fell += usize::from(!events.is_sorted_by_key(|stored| stored.event.ts));
            let document: Value =
                serde_json::from_str(&exported(&scene, &header.id, "opencode")).unwrap();
            let infos = document["messages"].as_array().unwrap().iter().map(|it| &it["info"]);
            let order: Vec<_> = infos
                .map(|info| (info["time"]["created"].as_i64().unwrap(), info["id"].to_string()))
                .collect();
            assert!(order.is_sorted(), "{folder}, {}: {order:?}", header.id);
            let now = document["info"]["time"]["created"].as_i64().unwrap();
            assert!(order.iter().all(|(created, _)| *created <= now));
        }
    }
    assert!(fell > 0, "no session has times that fall");
}

/// A session of opencode with a message whose time is in the future, and a message whose call has
/// no result.
const INTERRUPTED: &str = r#"{"info":{"id":"ses_1","directory":"/w","title":"t","time":{"created":1,"updated":1}},"messages":[
{"info":{"id":"msg_1","sessionID":"ses_1","role":"user","time":{"created":4102444800000}},"parts":[{"id":"prt_1","sessionID":"ses_1","messageID":"msg_1","type":"text","text":"look"}]},
{"info":{"id":"msg_2","sessionID":"ses_1","role":"assistant","parentID":"msg_1","time":{"created":4102444800001,"completed":4102444800001}},"parts":[{"id":"prt_2","sessionID":"ses_1","messageID":"msg_2","type":"tool","callID":"c","tool":"read","state":{"status":"running","input":{"path":"a"},"time":{"start":1}}}]}]}"#;

#[test]
fn a_call_of_opencodes_own_record_gets_its_result_in_the_record() {
    let scene = Scene::new();
    let report = scene.import(&scene.file("session.json", INTERRUPTED.as_bytes()));
    let session = &report.sessions[0].session_id;
    let request = ExportTo { dialect: "opencode".into(), at: None, cwd: None };
    let mut bytes = Vec::new();
    let outgoing = scene.engine.export_to(session, &request).unwrap();
    let lossy = outgoing.write(&mut bytes).unwrap().lossy;
    let document: Value = serde_json::from_slice(&bytes).unwrap();
    let now = outgoing.file().now.as_millisecond();
    for message in document["messages"].as_array().unwrap() {
        assert_eq!(message["info"]["time"]["created"], now);
    }
    let state = &document["messages"][1]["parts"][0]["state"];
    assert_eq!((&state["status"], &state["input"]["path"]), (&"error".into(), &"a".into()));
    assert_eq!(lossy, []);
}

/// A session with a failed tool call, whose result contains an image.
const FAILED: &str = r#"{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"look"}}
{"type":"assistant","uuid":"u2","parentUuid":"u1","sessionId":"s","message":{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"Read","input":{}}]}}
{"type":"user","uuid":"u3","parentUuid":"u2","sessionId":"s","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","is_error":true,"content":[{"type":"text","text":"half"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA=="}}]}]}}
"#;

#[test]
fn images_that_an_agent_cannot_store_are_counted() {
    let scene = Scene::new();
    let report = scene.import(&scene.file("failed.jsonl", FAILED.as_bytes()));
    let session = &report.sessions[0].session_id;
    let lost = |agent: &str| {
        let request = ExportTo { dialect: agent.into(), at: None, cwd: None };
        let outgoing = scene.engine.export_to(session, &request).unwrap();
        let lossy = outgoing.write(&mut std::io::sink()).unwrap().lossy;
        let lossy = lossy.into_iter().map(|lost| format!("{} {}", lost.count, lost.kind));
        lossy.collect::<Vec<_>>().join(", ")
    };
    let agents = ["opencode", "pi", "gemini", "codex", "amplifier", "ak-coder", "pixir"];
    let want =
        ["1 image", "", "", "1 is_error", "1 image, 1 is_error", "1 image, 1 is_error", "1 image"];
    assert_eq!(agents.map(lost), want);
}
