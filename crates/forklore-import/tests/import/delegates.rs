//! Imports files of sub-agents, whose sessions become delegates of the session that called them.

use std::path::Path;

use forklore_core::{SessionId, SessionKind};

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
