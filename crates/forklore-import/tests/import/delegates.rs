//! Imports files of sub-agents, whose sessions become delegates of the session that called them.

use std::path::Path;

use forklore_core::{SessionId, SessionKind};
use forklore_import::ProblemKind;

use crate::scene::Scene;

#[test]
fn a_sub_agent_of_claude_is_a_delegate_of_its_session() {
    let scene = Scene::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/claude/projects");
    let report = scene.import(&folder);
    assert_eq!(report.problems, []);
    let id: SessionId = "agent-af4ac804".parse().unwrap();
    let agent = scene.engine.show(&id).unwrap();
    let caller = agent.parent_id.clone().unwrap();
    assert_eq!(caller.as_str(), "9cb2dfeb-c188-4250-bac1-2b1856ffaa9b");
    // The own events of the delegate are its `session_fork` event and the two records of its file.
    let shape = (agent.kind, agent.inherited.inheritable, agent.own_events);
    assert_eq!(shape, (SessionKind::Delegate, 0, 3));
    let file = folder
        .join("-home-dev-work-space-a-proj-41/9cb2dfeb-c188-4250-bac1-2b1856ffaa9b/subagents")
        .join("agent-af4ac804.jsonl");
    assert_eq!(scene.restore(&id), std::fs::read(file).unwrap());
}

fn record(session: &str, uuid: &str, parent: &str, second: u8) -> String {
    format!(
        "{{\"parentUuid\":{parent},\"sessionId\":\"{session}\",\"type\":\"user\",\"uuid\":\"{uuid}\",\
         \"timestamp\":\"2026-01-01T00:00:{second:02}Z\",\
         \"message\":{{\"role\":\"user\",\"content\":\"{uuid}\"}}}}\n"
    )
}

#[test]
fn a_delegate_is_forked_after_the_messages_of_that_time() {
    let scene = Scene::new();
    let caller = "11111111-1111-4111-8111-111111111111";
    let records = [("a", "null", 1), ("b", "\"a\"", 3), ("c", "\"b\"", 5)];
    let text: String =
        records.iter().map(|(id, parent, second)| record(caller, id, parent, *second)).collect();
    scene.file(&format!("{caller}.jsonl"), text.as_bytes());
    scene.file("agent-1234abcd.jsonl", record(caller, "x", "null", 4).as_bytes());
    assert_eq!(scene.import(scene.folder.path()).problems, []);
    let agent = scene.engine.show(&"agent-1234abcd".parse().unwrap()).unwrap();
    assert_eq!(agent.cut.and_then(|cut| cut.seq), Some(1));
}

#[test]
fn a_sub_agent_whose_caller_is_gone_is_a_root() {
    let scene = Scene::new();
    let line = "{\"parentUuid\":null,\"isSidechain\":true,\"sessionId\":\"gone\",\"type\":\"user\",\
                \"uuid\":\"a\",\"timestamp\":\"2026-01-01T00:00:00Z\",\
                \"message\":{\"role\":\"user\",\"content\":\"probe\"}}\n";
    let report = scene.import(&scene.file("agent-1234abcd.jsonl", line.as_bytes()));
    let messages: Vec<_> = report.problems.iter().map(|problem| problem.message.as_str()).collect();
    assert_eq!(messages, ["the session that called this one as a sub-agent was not imported"]);
    assert_eq!(scene.sessions()[0].kind, SessionKind::Root);
}

/// Returns a record of a side chain of the session `of`.
fn side(of: &str, uuid: &str, parent: &str) -> String {
    record(of, uuid, parent, 1).replace("{\"parentUuid\"", "{\"isSidechain\":true,\"parentUuid\"")
}

#[test]
fn a_sub_agents_file_under_another_name_gives_no_empty_session() {
    let scene = Scene::new();
    let records = [side("caller", "a", "null"), side("caller", "b", "\"a\"")];
    let other = scene.file("kept.jsonl", records.concat().as_bytes());
    let report = scene.import(&other);
    let kinds: Vec<_> = report.problems.iter().map(|problem| problem.kind).collect();
    assert_eq!(kinds, [ProblemKind::MissingBase], "its caller is not there");
    let shape = |scene: &Scene| -> Vec<_> {
        let sessions = scene.sessions().into_iter();
        sessions.map(|it| (it.id.to_string(), it.kind, it.own_events)).collect()
    };
    assert_eq!(shape(&scene), [("kept".to_owned(), SessionKind::Root, 2)]);

    // With its caller, it is a delegate, also if it grows.
    let scene = Scene::new();
    scene.import(&scene.file("caller.jsonl", record("caller", "u", "null", 0).as_bytes()));
    for count in [1, 2] {
        let text = records[..count].concat();
        assert_eq!(scene.import(&scene.file("kept.jsonl", text.as_bytes())).problems, []);
    }
    let delegate = ("kept".to_owned(), SessionKind::Delegate, 3);
    assert_eq!(shape(&scene), [("caller".to_owned(), SessionKind::Root, 1), delegate]);
}

#[test]
fn a_session_that_begins_with_a_side_chain_keeps_its_main_line() {
    let scene = Scene::new();
    let text = [side("s", "a", "null"), record("s", "u", "null", 2)].concat();
    assert_eq!(scene.import(&scene.file("s.jsonl", text.as_bytes())).problems, []);
    let kinds: Vec<_> = scene.sessions().iter().map(|it| (it.kind, it.own_events)).collect();
    assert_eq!(kinds.len(), 2);
    assert!(kinds.contains(&(SessionKind::Root, 1)) && kinds.contains(&(SessionKind::Delegate, 2)));
}
