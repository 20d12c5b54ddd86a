//! Imports ak-coder's files, whose names show which of them are forks.

use std::path::PathBuf;

use forklore_core::workspace::Workspace;
use forklore_core::{Selector, SessionId, SessionKind};
use forklore_engine::{ExportTo, Fork, Outgoing};
use forklore_import::ProblemKind;
use serde_json::Value;

use crate::files::testdata;
use crate::scene::Scene;

const ROOT: &str = "session-1772442000000";
const FORK: &str = "fork-session-1772442000000-1772442060000";
const NESTED: &str = "fork-fork-session-1772442000000-1772442060000-1772442120000";
const PIPE: &str = "pipe-1772442180000";

fn file(session: &str) -> PathBuf {
    let folder = testdata().join("ak-coder/history/workspaces/shop-0a1b2c3d4e5f");
    folder.join(format!("{session}.jsonl"))
}

fn id(text: &str) -> SessionId {
    text.parse().unwrap()
}

#[test]
fn forks_share_what_they_copied() {
    for scene in [Scene::new(), Scene::sqlite(), Scene::files()] {
        let report = scene.import(&testdata().join("ak-coder/history"));
        assert_eq!(report.problems, []);
        let shape = |session: &str| {
            let header = scene.engine.show(&id(session)).unwrap();
            let parent = header.parent_id.map(|parent| parent.to_string());
            (parent, header.inherited.inheritable, header.own_events, header.counts.turns)
        };
        assert_eq!(shape(ROOT), (None, 0, 7, 2));
        // The own events of a fork are its `session_fork` event and its own records.
        assert_eq!(shape(FORK), (Some(ROOT.into()), 5, 3, 2));
        assert_eq!(shape(NESTED), (Some(FORK.into()), 6, 1, 2));
        assert_eq!(shape(PIPE), (None, 0, 2, 1));
        for session in [ROOT, FORK, NESTED, PIPE] {
            assert_eq!(scene.restore(&id(session)), std::fs::read(file(session)).unwrap());
        }
        let begun = scene.engine.show(&id(FORK)).unwrap().created.as_millisecond();
        assert_eq!(begun, 1_772_442_060_000);
    }
}

#[test]
fn a_file_without_a_last_line_end_grows() {
    let scene = Scene::new();
    let whole = std::fs::read(file(ROOT)).unwrap();
    let name = format!("{ROOT}.jsonl");
    let cut = whole.iter().rposition(|byte| *byte == b'\n').unwrap();
    for bytes in [&whole[..cut], &whole[..]] {
        scene.import_as(&scene.file(&name, bytes), "ak-coder");
        assert_eq!(scene.restore(&id(ROOT)), bytes);
    }
    assert_eq!(scene.sessions().len(), 1);
    // When the user returns to an earlier turn, ak-coder writes a shorter file.
    let report = scene.import_as(&scene.file(&name, &whole[..cut]), "ak-coder");
    assert_eq!(report.sessions.len(), 1);
    assert_eq!(scene.restore(&id(ROOT)), whole);
    assert_eq!(scene.restore(&report.sessions[0].session_id), &whole[..cut]);
}

/// Writes a session of ak-coder that was started in the folder `workspace`.
fn write_session(scene: &Scene, workspace: &str, name: &str) -> PathBuf {
    let history = scene.folder.path().canonicalize().unwrap().join("history/workspaces");
    let folder = history.join(Workspace::new(workspace).key());
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join(format!("{name}.jsonl"));
    std::fs::write(&path, format!("{{\"role\":\"user\",\"content\":\"{name}\"}}\n")).unwrap();
    path
}

#[test]
fn sessions_of_other_folders_are_not_those_of_the_current_one() {
    let scene = Scene::new();
    let claude = r#"{"type":"user","uuid":"a","parentUuid":null,"sessionId":"s","cwd":"/work/shop","message":{"role":"user","content":"hi"}}"#;
    scene.file("known.jsonl", claude.as_bytes());
    let elsewhere = write_session(&scene, "/far/away", "session-1772442000004");
    for (at, workspace) in ["/here", "/work/shop", "/work/blog"].iter().enumerate() {
        write_session(&scene, workspace, &format!("session-177244200000{at}"));
    }
    let report = scene.import(scene.folder.path());
    assert_eq!(report.problems, []);
    let workspace = |session: &str| scene.engine.show(&id(session)).unwrap().workspace.to_string();
    let found = [0, 1, 2, 4].map(|at| workspace(&format!("session-177244200000{at}")));
    let own = elsewhere.parent().unwrap().to_str().unwrap();
    assert_eq!(found, ["/here", "/work/shop", "/work/blog", own]);
}

#[test]
fn sub_agents_are_delegates_of_their_callers() {
    for scene in [Scene::new(), Scene::sqlite(), Scene::files()] {
        let child = format!("{ROOT}-depth-1-1772442060000");
        let nested = format!("{child}-depth-2-1772442120000");
        let nameless = "sub-depth-1-1772442060000";
        for name in [&nested, &child, nameless, ROOT] {
            write_session(&scene, "/here", name);
        }
        let report = scene.import(&scene.folder.path().join("history"));
        assert_eq!(report.problems, []);
        let parent = |session: &str| {
            let header = scene.engine.show(&id(session)).unwrap();
            (header.kind, header.parent_id.map(|parent| parent.to_string()))
        };
        assert_eq!(parent(&child), (SessionKind::Delegate, Some(ROOT.to_owned())));
        assert_eq!(parent(&nested), (SessionKind::Delegate, Some(child)));
        assert_eq!(parent(nameless), (SessionKind::Root, None));
    }
}

#[test]
fn damaged_files_are_read_as_far_as_they_can_be() {
    let scene = Scene::new();
    let report = scene.import(&testdata().join("ak-coder/malformed"));
    let mut problems: Vec<_> =
        report.problems.iter().map(|problem| (&problem.path, problem.kind)).collect();
    // The files' records have no times, so the import order depends on the files' modification
    // times.
    problems.sort_by_key(|(path, _)| *path);
    let kinds: Vec<_> = problems.into_iter().map(|(_, kind)| kind).collect();
    assert_eq!(kinds, [ProblemKind::Damage, ProblemKind::Incomplete]);
    let shape: Vec<_> =
        scene.sessions().into_iter().map(|header| (header.kind, header.own_events)).collect();
    assert_eq!(shape, [(SessionKind::Root, 2), (SessionKind::Root, 1)]);
}

fn outgoing(scene: &Scene, session: &SessionId) -> Outgoing {
    let cwd = Some("/home/dev/shop".into());
    let request = ExportTo { dialect: "ak-coder".into(), at: None, cwd };
    scene.engine.export_to(session, &request).unwrap()
}

fn exported(scene: &Scene, session: &SessionId) -> String {
    let mut bytes = Vec::new();
    outgoing(scene, session).write(&mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

/// Reads a file as ak-coder's `loadSession` does, and checks the fields of its `ChatMessage`.
fn load_session(file: &str) -> Vec<Value> {
    let lines = file.split('\n').filter(|line| !line.trim().is_empty());
    let messages: Vec<Value> = lines.map(|line| serde_json::from_str(line).unwrap()).collect();
    for message in &messages {
        let role = message["role"].as_str().unwrap();
        assert!(["system", "user", "assistant", "tool"].contains(&role), "{message}");
        assert!(message["content"].is_string(), "{message}");
        assert_eq!(message["tool_call_id"].is_string(), role == "tool", "{message}");
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let arguments = call["function"]["arguments"].as_str().unwrap();
            assert!(serde_json::from_str::<Value>(arguments).unwrap().is_object(), "{message}");
        }
        for image in message["images"].as_array().into_iter().flatten() {
            assert!(image.is_string(), "{message}");
        }
    }
    messages
}

#[test]
fn an_export_is_the_original_byte_for_byte() {
    let scene = Scene::new();
    scene.import(&testdata().join("ak-coder/history"));
    for session in [ROOT, FORK, NESTED, PIPE] {
        let original = std::fs::read_to_string(file(session)).unwrap();
        assert_eq!(exported(&scene, &id(session)), original, "{session}");
    }
}

#[test]
fn an_export_of_a_fork_is_what_ak_coder_writes_for_its_own() {
    let scene = Scene::new();
    scene.import(&testdata().join("ak-coder/history"));
    let original = std::fs::read_to_string(file(ROOT)).unwrap();
    let lines: Vec<_> = original.lines().collect();
    for turn_index in [1, 4] {
        let at = Selector::Message(i64::try_from(turn_index).unwrap());
        let fork = scene.engine.fork(&Fork::of(id(ROOT)).at(at)).unwrap().child_session_id;
        // When ak-coder forks, it calls `history.slice(0, turnIndex + 1)` and `saveSession`.
        assert_eq!(exported(&scene, &fork), lines[..=turn_index].join("\n"));
        let outgoing = outgoing(&scene, &fork);
        let placement = outgoing.agent().destination(outgoing.file(), &|_| None).unwrap();
        let millis = outgoing.file().now.as_millisecond();
        let name = format!("history/workspaces/shop-e828acfc792e/fork-{ROOT}-{millis}.jsonl");
        assert_eq!(placement.path, PathBuf::from(name));
        let typed = outgoing.agent().first_input(outgoing.file());
        assert_eq!(typed, Some(format!("/resume fork-{ROOT}-{millis}")));
    }
}

#[test]
fn sessions_of_other_agents_become_messages_that_ak_coder_reads() {
    let scene = Scene::new();
    for folder in ["parallel/claude", "images/claude"] {
        scene.import(&testdata().join(folder));
    }
    let sessions = scene.sessions();
    let messages: Vec<_> =
        sessions.iter().map(|header| load_session(&exported(&scene, &header.id))).collect();
    let roles = |messages: &[Value]| {
        let roles: Vec<_> = messages.iter().map(|it| it["role"].as_str().unwrap()).collect();
        roles.join(" ")
    };
    let parallel = "user assistant tool tool tool assistant user assistant tool tool assistant";
    let images = "user assistant tool tool assistant user assistant";
    assert_eq!([roles(&messages[0]), roles(&messages[1])], [parallel, images]);
    assert_eq!(messages[0][2]["name"], "Read");
    let image = messages[1][0]["images"][0].as_str().unwrap();
    assert!(image.starts_with("data:image/png;base64,"), "{image}");
}
