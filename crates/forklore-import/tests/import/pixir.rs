//! Imports Pixir's logs. A fork is a separate log that contains its parent's events under new ids.

use std::path::PathBuf;

use forklore_core::{Message, Part, Selector, SessionId, SessionKind};
use forklore_engine::{ExportTo, Fork};
use forklore_import::ProblemKind;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::files::testdata;
use crate::scene::Scene;

const ROOT: &str = "20260302T090000-a1b2c3";
const FORK: &str = "20260302T093000-d4e5f6";
/// The hash in the name of the resource file that both sessions have.
const PICTURE: &str = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

fn file(session: &str) -> PathBuf {
    testdata().join("pixir/.pixir/sessions").join(format!("{session}.ndjson"))
}

fn content(session: &str) -> Vec<u8> {
    std::fs::read(file(session)).unwrap()
}

fn id(text: &str) -> SessionId {
    text.parse().unwrap()
}

#[test]
fn a_fork_shares_what_it_replayed() {
    for scene in [Scene::new(), Scene::sqlite(), Scene::files()] {
        let report = scene.import(&testdata().join("pixir/.pixir"));
        assert_eq!(report.problems, []);
        let root = scene.engine.show(&id(ROOT)).unwrap();
        assert_eq!((root.own_events, root.counts.turns, root.counts.open), (12, 2, 0));
        assert_eq!((root.usage.input, root.usage.output, root.usage.cached), (120, 30, 64));
        let workspace = testdata().join("pixir").canonicalize().unwrap();
        assert_eq!(root.workspace.as_str(), workspace.to_string_lossy());
        let fork = scene.engine.show(&id(FORK)).unwrap();
        assert_eq!((fork.kind, fork.parent_id.clone()), (SessionKind::Branch, Some(id(ROOT))));
        // The fork inherits eight events. Its own events are `session_fork`, a summary and two
        // messages.
        assert_eq!((fork.inherited.inheritable, fork.own_events, fork.counts.turns), (8, 4, 3));
        assert_eq!(fork.usage.input, 0, "what the parent spent is the parent's");
        assert_eq!(fork.workspace.as_str(), "/home/dev/shop");
        for session in [ROOT, FORK] {
            assert_eq!(scene.restore(&id(session)), content(session), "{session}");
        }
    }
}

#[test]
fn a_replay_that_says_something_else_is_no_copy() {
    let scene = Scene::new();
    scene.import(&file(ROOT));
    let other = String::from_utf8(content(FORK)).unwrap().replace("\"allow\"", "\"deny\"");
    scene.import(&scene.file(&format!("{FORK}.ndjson"), other.as_bytes()));
    assert_eq!(scene.engine.show(&id(FORK)).unwrap().inherited.inheritable, 4);
    assert_eq!(scene.restore(&id(FORK)), other.as_bytes());
}

#[test]
fn a_fork_is_whole_without_its_parent() {
    let scene = Scene::new();
    scene.import(&file(FORK));
    let fork = scene.engine.show(&id(FORK)).unwrap();
    assert_eq!((fork.kind, fork.own_events, fork.counts.turns), (SessionKind::Root, 11, 3));
    assert_eq!(scene.restore(&id(FORK)), content(FORK));
}

#[test]
fn a_fork_that_comes_first_is_linked_to_its_parent() {
    let scene = Scene::new();
    scene.import(&file(FORK));
    scene.import(&file(ROOT));
    let link = scene.engine.show(&id(FORK)).unwrap().copy_of.unwrap();
    // The index counts conversation events: six of the eight copied events are messages, calls and
    // results.
    assert_eq!((link.session_id, link.index), (id(ROOT), 6));
}

#[test]
fn a_compaction_stands_for_what_its_range_says() {
    let scene = Scene::new();
    let counted = "20260302T094000-0718ab";
    scene.import(&file(counted));
    let sent = scene.engine.inspect(&id(counted)).unwrap();
    let sent: Vec<_> = sent.messages.iter().map(Message::plain_text).collect();
    let summed = "[Summary of the conversation so far]\nCounted to two.";
    assert_eq!(sent, [summed, "Step 3.", "Step 4."]);
}

#[test]
fn a_compaction_in_a_fork_counts_as_the_fork_does() {
    let scene = Scene::new();
    scene.import(&file(ROOT));
    // Number 2 of the fork is the question, which has the number 1 in the root. The root's number 2
    // is the reasoning.
    let log = String::from_utf8(content(FORK)).unwrap();
    let compaction = format!(
        "{{\"data\":{{\"range\":{{\"from_seq\":1,\"to_seq\":2}},\"summary\":\"A question.\"}},\
         \"id\":\"00000000000000ff\",\"seq\":12,\"session_id\":\"{FORK}\",\
         \"ts\":\"2026-03-02T09:32:00.000000Z\",\"type\":\"history_compaction\"}}\n"
    );
    scene.import(&scene.file(&format!("{FORK}.ndjson"), (log + &compaction).as_bytes()));
    let nested = scene.engine.fork(&Fork::of(id(FORK))).unwrap().child_session_id;
    for session in [&id(FORK), &nested] {
        let messages = scene.engine.inspect(session).unwrap().messages;
        let first = messages[0].plain_text();
        assert_eq!(first, "[Summary of the conversation so far]\nA question.");
        assert!(matches!(messages[1].to_parts()[..], [Part::Reasoning { .. }]), "{messages:?}");
        let events = exported(&scene, session.as_str());
        let compaction = events.iter().find(|event| event.r#type == "history_compaction");
        let data: serde_json::Value = serde_json::from_str(compaction.unwrap().data.get()).unwrap();
        assert_eq!(data["range"].to_string(), r#"{"from_seq":1,"to_seq":2}"#);
    }
}

#[test]
fn a_log_grows() {
    let whole = content(FORK);
    let lines: Vec<_> = whole.split_inclusive(|byte| *byte == b'\n').collect();
    for cut in 1..lines.len() {
        let scene = Scene::new();
        scene.import(&file(ROOT));
        for bytes in [lines[..cut].concat(), whole.clone()] {
            scene.import(&scene.file(&format!("{FORK}.ndjson"), &bytes));
        }
        assert_eq!(scene.restore(&id(FORK)), whole, "{cut}");
        assert_eq!(scene.engine.show(&id(FORK)).unwrap().counts.turns, 3, "{cut}");
    }
}

#[test]
fn damaged_logs_are_read_as_far_as_they_can_be() {
    let scene = Scene::new();
    let report = scene.import(&testdata().join("pixir/malformed"));
    let kinds: Vec<_> = report.problems.iter().map(|problem| problem.kind).collect();
    assert_eq!(kinds, [ProblemKind::Incomplete, ProblemKind::Irregular, ProblemKind::Damage]);
    let shape: Vec<_> =
        scene.sessions().into_iter().map(|header| (header.kind, header.own_events)).collect();
    assert_eq!(shape, [(SessionKind::Root, 1), (SessionKind::Root, 4)]);
}

/// An event as Pixir's `Log.fold` reads it.
#[derive(Clone, Debug, Deserialize)]
struct PixirEvent {
    id: String,
    session_id: String,
    seq: u64,
    ts: String,
    r#type: String,
    data: Box<RawValue>,
}

/// Reads a log as Pixir does: it refuses types that it does not know and events without `data`, and
/// orders the events by their numbers. Also asserts that the numbers and ids are unique.
fn fold(log: &str) -> Vec<PixirEvent> {
    let types = "user_message assistant_message reasoning skill_activation subagent_event \
                 workflow_event session_fork branch_summary history_compaction tool_call \
                 tool_result permission_decision";
    let lines = log.lines().filter(|line| !line.is_empty());
    let mut events: Vec<PixirEvent> =
        lines.map(|line| serde_json::from_str(line).unwrap()).collect();
    events.sort_by_key(|event| event.seq);
    for (seq, event) in (0..).zip(&events) {
        assert!(types.split(' ').any(|kind| kind == event.r#type), "{event:?}");
        assert!(event.data.get().starts_with('{'), "{event:?}");
        assert_eq!((event.seq, &event.session_id), (seq, &events[0].session_id));
        assert_eq!(events.iter().filter(|other| other.id == event.id).count(), 1);
    }
    events
}

/// Returns the events that Pixir's `Compaction.provider_history` gives to the model: the last
/// compaction, and the events after its range.
fn provider_history(events: &[PixirEvent]) -> Vec<&PixirEvent> {
    let is_compaction = |event: &&PixirEvent| event.r#type == "history_compaction";
    let Some(last) = events.iter().rfind(is_compaction) else { return events.iter().collect() };
    let data: serde_json::Value = serde_json::from_str(last.data.get()).unwrap();
    let to = data["range"]["to_seq"].as_u64().unwrap();
    let tail = events.iter().filter(|event| !is_compaction(event) && event.seq > to);
    std::iter::once(last).chain(tail).collect()
}

fn exported(scene: &Scene, session: &str) -> Vec<PixirEvent> {
    let request = ExportTo { dialect: "pixir".into(), at: None, cwd: None };
    let mut bytes = Vec::new();
    scene.engine.export_to(&id(session), &request).unwrap().write(&mut bytes).unwrap();
    fold(&String::from_utf8(bytes).unwrap())
}

fn contents(events: &[PixirEvent]) -> Vec<(&str, &str, &str)> {
    let contents = events.iter();
    contents.map(|event| (&*event.ts, &*event.r#type, event.data.get())).collect()
}

#[test]
fn an_export_is_a_fork_as_pixir_writes_it() {
    let scene = Scene::new();
    scene.import(&testdata().join("pixir/.pixir"));
    let log = String::from_utf8(content(ROOT)).unwrap();
    let replayed: Vec<PixirEvent> = log
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .filter(|event: &PixirEvent| !["provider_usage", "turn_failed"].contains(&&*event.r#type))
        .collect();
    let events = exported(&scene, ROOT);
    let fork: serde_json::Value = serde_json::from_str(events[0].data.get()).unwrap();
    assert_eq!(events[0].r#type, "session_fork");
    // The last event of the root is a failure, which Pixir does not replay.
    assert_eq!((&fork["parent_session_id"], &fork["forked_to_seq"]), (&ROOT.into(), &10.into()));
    assert_eq!(contents(&events[1..]), contents(&replayed));
    // Pixir trusts the permissions of a fork only if they directly follow the `session_fork`.
    assert!(events[1].data.get().contains("permission_posture"));
}

#[test]
fn an_export_of_a_fork_of_forklore_contains_its_prefix_only() {
    let scene = Scene::new();
    scene.import(&testdata().join("pixir/.pixir"));
    let fork = Fork::of(id(ROOT)).at(Selector::Turn(1));
    let fork = scene.engine.fork(&fork).unwrap().child_session_id;
    let events = exported(&scene, fork.as_str());
    let kinds: Vec<_> = events.iter().map(|event| &*event.r#type).collect();
    let want = "session_fork subagent_event user_message reasoning tool_call \
                permission_decision tool_result assistant_message";
    assert_eq!(kinds.join(" "), want);
}

#[test]
fn the_range_of_a_compaction_has_the_new_numbers() {
    const COMPACTED: &str = "20260302T094000-0718ab";
    let scene = Scene::new();
    scene.import(&testdata().join("pixir/.pixir"));
    let original = fold(&String::from_utf8(content(COMPACTED)).unwrap());
    let events = exported(&scene, COMPACTED);
    let texts = |events: &[PixirEvent]| {
        let history = provider_history(events).into_iter();
        let data = history
            .map(|event| serde_json::from_str::<serde_json::Value>(event.data.get()).unwrap());
        data.map(|data| data.get("text").or(data.get("summary")).cloned()).collect::<Vec<_>>()
    };
    assert_eq!(texts(&events), texts(&original));
    let range = |event: &PixirEvent| {
        let data: serde_json::Value = serde_json::from_str(event.data.get()).unwrap();
        data["range"].to_string()
    };
    assert_eq!(range(&events[5]), r#"{"from_seq":1,"to_seq":3}"#);
}

#[test]
fn the_resources_of_an_imported_session_can_be_read_from_its_forks() {
    for scene in [Scene::new(), Scene::sqlite(), Scene::files()] {
        scene.import(&testdata().join("pixir/.pixir"));
        let fork = Fork::of(id(ROOT)).at(Selector::Turn(1));
        let fork = scene.engine.fork(&fork).unwrap().child_session_id;
        let nested = scene.engine.fork(&Fork::of(fork.clone())).unwrap().child_session_id;
        let name = format!("{ROOT}/resources/res_1/{PICTURE}.png");
        for session in [&fork, &nested] {
            let files = scene.engine.files(session).unwrap();
            let found: Vec<_> =
                files.iter().map(|file| (&*file.about.name, file.about.own)).collect();
            assert_eq!(found, [(&*name, false)]);
            let mut bytes = Vec::new();
            scene.engine.restore_file(&files[0], &mut bytes).unwrap();
            assert_eq!(bytes, std::fs::read(file(ROOT).with_file_name(&name)).unwrap());
        }
    }
}

#[test]
fn a_new_session_gets_copies_of_the_resources_that_it_names() {
    let scene = Scene::new();
    let event = |seq: u64, kind: &str, data: &str| {
        let ts = format!("2026-03-02T09:00:0{seq}.000000Z");
        format!(
            "{{\"data\":{data},\"id\":\"{seq}\",\"seq\":{seq},\"session_id\":\"s\",\"ts\":\"{ts}\",\
             \"type\":\"{kind}\"}}\n"
        )
    };
    let resource =
        format!("{{\"text\":\"b\",\"resources\":[{{\"content_sha256\":\"{PICTURE}\"}}]}}");
    let log = event(0, "user_message", "{\"text\":\"a\"}") + &event(1, "user_message", &resource);
    let log = scene.file("s.ndjson", log.as_bytes());
    for name in [PICTURE, "unnamed"] {
        let folder = log.with_extension("").join("resources").join(name);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(format!("{name}.png")), name).unwrap();
    }
    scene.import(&log);
    let copies = |turn: i64| {
        let request =
            ExportTo { dialect: "pixir".into(), at: Some(Selector::Turn(turn)), cwd: None };
        let new = scene.engine.export_to(&id("s"), &request).unwrap();
        let placement = new.agent().destination(new.file(), &|_| None).unwrap();
        let folder = placement.path.with_extension("");
        let sidecars = new.sidecars().unwrap().into_iter();
        let inside = sidecars.map(|(_, path)| path.strip_prefix(&folder).unwrap().to_owned());
        inside.collect::<Vec<_>>()
    };
    assert!(copies(1).is_empty());
    let copy = format!("resources/{PICTURE}/{PICTURE}.png");
    assert_eq!(copies(2), [PathBuf::from(copy)]);
}
