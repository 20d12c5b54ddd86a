//! Imports Amplifier's session directories, with the facts in the `metadata.json` next to each
//! transcript.

use std::path::{Path, PathBuf};

use forklore_core::{Selector, SessionId, SessionKind};
use forklore_engine::{ExportTo, Fork, Outgoing};
use forklore_import::ProblemKind;
use serde_json::Value;

use crate::files::testdata;
use crate::scene::Scene;

const ROOT: &str = "1cb9e5f5-48b2-4dd6-9728-bcc3b0303f2b";
const AGENT: &str = "1cb9e5f5-48b2-4dd6-9728-bcc3b0303f2b-3c3c7d7ed17b4281_zen-architect";
const FORK: &str = "7d1f0a52-6a0e-4c0b-9a57-2f5f5b1f9c11";

fn sessions() -> PathBuf {
    testdata().join("amplifier/projects/-home-dev-shop/sessions")
}

fn id(text: &str) -> SessionId {
    text.parse().unwrap()
}

fn transcript(session: &str) -> Vec<u8> {
    std::fs::read(sessions().join(session).join("transcript.jsonl")).unwrap()
}

/// Writes the directory of a session and returns the path of the transcript.
fn folder(scene: &Scene, session: &str, transcript: &str, metadata: Option<&str>) -> PathBuf {
    let folder = scene.folder.path().join("sessions").join(session);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("transcript.jsonl"), transcript).unwrap();
    if let Some(metadata) = metadata {
        std::fs::write(folder.join("metadata.json"), metadata).unwrap();
    }
    folder.join("transcript.jsonl")
}

#[test]
fn a_folder_of_sessions_is_one_tree() {
    for scene in [Scene::new(), Scene::sqlite(), Scene::files()] {
        let report = scene.import(&testdata().join("amplifier/projects"));
        assert_eq!(report.problems, []);
        // Amplifier's own logs are not sessions but sidecar files.
        assert_eq!((report.sessions.len(), report.skipped, report.sidecars.files), (3, 0, 6));
        let root = scene.engine.show(&id(ROOT)).unwrap();
        assert_eq!(root.kind, SessionKind::Root);
        assert_eq!(root.workspace.as_str(), "/home/dev/shop");
        assert_eq!(root.title.as_deref(), Some("Discounts in the basket"));
        assert_eq!((root.own_events, root.counts.turns, root.counts.open), (9, 2, 0));
        let agent = scene.engine.show(&id(AGENT)).unwrap();
        assert_eq!((agent.kind, agent.parent_id), (SessionKind::Delegate, Some(id(ROOT))));
        assert_eq!((agent.inherited.inheritable, agent.title), (0, None));
        // The cut follows the tool call that called the sub-agent.
        assert_eq!(agent.cut.and_then(|cut| cut.seq), Some(5));
        let fork = scene.engine.show(&id(FORK)).unwrap();
        assert_eq!((fork.kind, fork.parent_id), (SessionKind::Branch, Some(id(ROOT))));
        // The own events of the fork are its `session_fork` event and two records.
        assert_eq!((fork.inherited.inheritable, fork.own_events, fork.counts.turns), (4, 3, 2));
        for session in [ROOT, AGENT, FORK] {
            assert_eq!(scene.restore(&id(session)), transcript(session), "{session}");
        }
    }
}

#[test]
fn a_fork_that_comes_first_reads_as_its_file() {
    let scene = Scene::new();
    for session in [FORK, ROOT] {
        scene.import(&sessions().join(session).join("transcript.jsonl"));
    }
    assert_eq!(scene.restore(&id(FORK)), transcript(FORK));
    assert_eq!(scene.restore(&id(ROOT)), transcript(ROOT));
    let linked: Vec<_> = scene.sessions().into_iter().filter_map(|it| it.copy_of).collect();
    assert_eq!(linked.len(), 1);
}

#[test]
fn a_session_is_called_as_its_document_says_by_now() {
    let scene = Scene::new();
    let message = "{\"role\":\"user\",\"content\":\"a\",\"timestamp\":\"2026-01-01T00:00:00Z\"}\n";
    let title = |scene: &Scene| scene.engine.show(&id("s")).unwrap().title;
    scene.import(&folder(&scene, "s", message, None));
    assert_eq!(title(&scene), None);
    for name in ["first", "second"] {
        let metadata = format!("{{\n  \"session_id\": \"s\",\n  \"name\": \"{name}\"\n}}");
        scene.import(&folder(&scene, "s", message, Some(&metadata)));
        assert_eq!(title(&scene).as_deref(), Some(name));
    }
}

#[test]
fn a_transcript_that_was_written_anew_is_a_new_revision() {
    let scene = Scene::new();
    let message = |text: &str| {
        let ts = "2026-01-01T00:00:00Z";
        format!("{{\"role\":\"user\",\"content\":\"{text}\",\"timestamp\":\"{ts}\"}}\n")
    };
    scene.import(&folder(&scene, "s", &message("a"), None));
    let grown = message("a") + &message("b");
    scene.import(&folder(&scene, "s", &grown, None));
    assert_eq!((scene.sessions().len(), scene.restore(&id("s"))), (1, grown.clone().into_bytes()));
    scene.import(&folder(&scene, "s", &message("c"), None));
    let restored: Vec<_> =
        scene.sessions().iter().map(|session| scene.restore(&session.id)).collect();
    assert_eq!(restored.len(), 2);
    assert!(
        restored.contains(&grown.into_bytes()) && restored.contains(&message("c").into_bytes())
    );
}

#[test]
fn damaged_folders_are_read_as_far_as_they_can_be() {
    let folder = testdata().join("amplifier/malformed");
    let read = |name: &str| {
        let scene = Scene::new();
        let report = scene.import_as(&folder.join(name), "amplifier");
        let kinds: Vec<_> = report.problems.iter().map(|problem| problem.kind).collect();
        let session = scene.sessions().remove(0);
        (session.id.to_string(), session.own_events, kinds)
    };
    let number = |n: u8| format!("9f0c1e1e-0000-4000-8000-00000000000{n}");
    assert_eq!(read("lone"), (number(1), 2, vec![]));
    assert_eq!(read("torn"), (number(2), 1, vec![ProblemKind::Incomplete]));
    assert_eq!(read("odd"), (number(3), 3, vec![ProblemKind::Damage]));
}

#[test]
fn an_agent_whose_caller_is_gone_is_a_root() {
    let scene = Scene::new();
    let path = sessions().join(AGENT).join("transcript.jsonl");
    let report = scene.import(Path::new(&path));
    let kinds: Vec<_> = report.problems.iter().map(|problem| problem.kind).collect();
    assert_eq!(kinds, [ProblemKind::MissingBase]);
    assert_eq!(scene.sessions()[0].kind, SessionKind::Root);
}

fn outgoing(scene: &Scene, session: &SessionId) -> Outgoing {
    let cwd = Some("/home/dev/shop".into());
    let request = ExportTo { dialect: "amplifier".into(), at: None, cwd };
    scene.engine.export_to(session, &request).unwrap()
}

fn exported(scene: &Scene, session: &SessionId) -> String {
    let mut bytes = Vec::new();
    outgoing(scene, session).write(&mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

/// Reads a transcript as Amplifier's `SessionStore` does. Checks that its messages are those that
/// `SessionStore` writes, and that each tool call is followed by its result.
fn load_transcript(transcript: &str) -> Vec<Value> {
    let lines = transcript.lines().map(str::trim).filter(|line| !line.is_empty());
    let messages: Vec<Value> = lines.map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut open: Vec<&str> = Vec::new();
    for message in &messages {
        assert!(message["timestamp"].is_string(), "{message}");
        match message["role"].as_str().unwrap() {
            "tool" => {
                let call = message["tool_call_id"].as_str().unwrap();
                open.remove(open.iter().position(|open| *open == call).unwrap());
            }
            "user" => assert_eq!(open, [""; 0], "{message}"),
            "assistant" => {
                let calls = message["tool_calls"].as_array().into_iter().flatten();
                open.extend(calls.map(|call| call["id"].as_str().unwrap()));
            }
            other => panic!("{other} is not stored"),
        }
    }
    assert_eq!(open, [""; 0]);
    messages
}

#[test]
fn an_export_is_the_original_byte_for_byte() {
    let scene = Scene::new();
    scene.import(&testdata().join("amplifier/projects"));
    for session in [ROOT, AGENT, FORK] {
        assert_eq!(exported(&scene, &id(session)).into_bytes(), transcript(session), "{session}");
    }
}

#[test]
fn an_export_of_a_fork_is_a_fork_of_amplifiers() {
    let scene = Scene::new();
    scene.import(&testdata().join("amplifier/projects"));
    let fork = scene.engine.fork(&Fork::of(id(ROOT)).at(Selector::Turn(1))).unwrap();
    let text = exported(&scene, &fork.child_session_id);
    let original = String::from_utf8(transcript(ROOT)).unwrap();
    assert_eq!((original.starts_with(&text), load_transcript(&text).len()), (true, 4));
    let outgoing = outgoing(&scene, &fork.child_session_id);
    let sessions = "projects/-home-dev-shop/sessions";
    let read = |path: &Path| {
        let is_metadata = path == Path::new(&format!("{sessions}/{ROOT}/metadata.json"));
        is_metadata.then(|| r#"{"bundle":"bundle:foundation","turn_count":9}"#.to_owned())
    };
    let placement = outgoing.agent().destination(outgoing.file(), &read).unwrap();
    let new = &outgoing.file().id;
    assert_eq!(placement.path, PathBuf::from(format!("{sessions}/{new}/transcript.jsonl")));
    let [(path, metadata)] = &placement.companions[..] else { panic!("{placement:?}") };
    assert_eq!(*path, PathBuf::from(format!("{sessions}/{new}/metadata.json")));
    // Amplifier and forklore read the document, and see a fork.
    let again = Scene::new();
    again.import(&testdata().join("amplifier/projects"));
    again.import(&folder(&again, new.as_str(), &text, Some(metadata)));
    let header = again.engine.show(new).unwrap();
    assert_eq!((header.kind, header.parent_id), (SessionKind::Branch, Some(id(ROOT))));
    assert_eq!((header.inherited.inheritable, header.workspace.as_str()), (4, "/home/dev/shop"));
    let metadata: Value = serde_json::from_str(metadata).unwrap();
    assert_eq!(metadata["bundle"], "bundle:foundation");
}

#[test]
fn sessions_of_other_agents_become_transcripts() {
    let scene = Scene::new();
    for folder in ["parallel/codex", "images/codex"] {
        scene.import(&testdata().join(folder));
    }
    for header in scene.sessions() {
        let messages = load_transcript(&exported(&scene, &header.id));
        let tools = messages.iter().filter(|message| message["role"] == "tool");
        assert!(tools.clone().count() > 0);
        tools.for_each(|tool| assert!(["Read", "Bash"].contains(&tool["name"].as_str().unwrap())));
    }
}
