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

const CALLER: &str = "11111111-1111-4111-8111-111111111111";

/// Writes the file of [`CALLER`] and a file of a sub-agent at the paths that Claude Code gives
/// them. Returns the path of the sub-agent's file.
fn in_project(scene: &Scene, caller: &str, agent: &str, text: &str) -> std::path::PathBuf {
    let folder = scene.folder.path().join("-w");
    let agents = folder.join(CALLER).join("subagents");
    std::fs::create_dir_all(&agents).unwrap();
    std::fs::write(folder.join(format!("{CALLER}.jsonl")), caller).unwrap();
    let path = agents.join(format!("{agent}.jsonl"));
    std::fs::write(&path, text).unwrap();
    path
}

fn ids(scene: &Scene, session: &str) -> Vec<String> {
    let events = scene.events(&session.parse().unwrap()).into_iter();
    let events = events.filter(|stored| stored.event.kind.as_str() != "session_fork");
    events.map(|stored| stored.event.id.to_string()).collect()
}

/// The file of a compaction repeats messages of the session that called it, but not the records
/// between these messages.
#[test]
fn parents_that_stand_in_the_callers_file_begin_no_branch() {
    let scene = Scene::new();
    let progress =
        record(CALLER, "p", "\"a\"", 2).replace("\"type\":\"user\"", "\"type\":\"progress\"");
    let caller =
        [record(CALLER, "a", "null", 1), progress, record(CALLER, "b", "\"p\"", 3)].concat();
    let repeated = [record(CALLER, "b", "\"p\"", 3), record(CALLER, "x", "\"gone\"", 4)].concat();
    in_project(&scene, &caller, "agent-acompact-1", &repeated);
    let report = scene.import(scene.folder.path());
    assert_eq!(report.problems, []);
    assert_eq!(report.sessions.len(), 2);
    assert_eq!(ids(&scene, "agent-acompact-1"), ["b", "x"]);
    assert_eq!(ids(&scene, CALLER), ["a", "p", "b"]);
}

/// A forked sub-agent's file begins with a pointer to the conversation that it continues.
#[test]
fn a_forked_sub_agent_continues_the_conversation_of_its_caller() {
    for parent in ["null", "\"b\""] {
        let scene = Scene::new();
        let caller: String = [("a", "null", 1), ("b", "\"a\"", 2), ("c", "\"b\"", 3)]
            .iter()
            .map(|(id, parent, second)| record(CALLER, id, parent, *second))
            .collect();
        let pointer = format!(
            "{{\"type\":\"fork-context-ref\",\"agentId\":\"f1\",\"parentSessionId\":\"{CALLER}\",\
             \"parentLastUuid\":\"b\",\"contextLength\":2}}\n"
        );
        let own = [record(CALLER, "x", parent, 4), record(CALLER, "y", "\"x\"", 5)].concat();
        let text = pointer + &own;
        let path = in_project(&scene, &caller, "agent-f1", &text);
        // The caller's file is read too, although only the sub-agent's file is named.
        assert_eq!(scene.import(&path).problems, []);
        let id: SessionId = "agent-f1".parse().unwrap();
        let agent = scene.engine.show(&id).unwrap();
        assert_eq!(agent.kind, SessionKind::Branch);
        assert_eq!(agent.parent_id, Some(CALLER.parse().unwrap()));
        assert_eq!(ids(&scene, "agent-f1"), ["a", "b", "x", "y"]);
        assert_eq!(scene.restore(&id), text.as_bytes());

        // Without the conversation that it continues, the file is refused.
        let alone = Scene::new();
        let report = alone.import(&alone.file("agent-f1.jsonl", text.as_bytes()));
        assert_eq!(report.sessions, []);
        let kinds: Vec<_> = report.problems.iter().map(|problem| problem.kind).collect();
        assert_eq!(kinds, [ProblemKind::MissingBase]);
    }
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

    // If the caller was imported, the session is a delegate, also after its file grew.
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
