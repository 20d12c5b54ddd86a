//! Imports files of Claude Code in which some records name parents in an unusual way.

use forklore_import::ProblemKind;

use crate::scene::Scene;

const ID: &str = "11111111-1111-4111-8111-111111111111";

fn record(uuid: &str, parent: &str, more: &str) -> String {
    format!(
        "{{\"uuid\":\"{uuid}\",\"parentUuid\":{parent},\"sessionId\":\"{ID}\",\"type\":\"user\",\
         \"message\":{{\"role\":\"user\",\"content\":\"{uuid}\"}}{more}}}\n"
    )
}

/// Imports a session with a compaction after the records `a` and `b`. Returns the problems and the
/// number of sessions.
fn compacted(logical_parent: &str) -> (Vec<ProblemKind>, usize) {
    let boundary = format!(
        "{{\"uuid\":\"k\",\"parentUuid\":null,\"logicalParentUuid\":\"{logical_parent}\",\
         \"sessionId\":\"{ID}\",\"type\":\"system\",\"subtype\":\"compact_boundary\"}}\n"
    );
    let summary = record("s", "\"k\"", ",\"isCompactSummary\":true");
    let text = [
        record("a", "null", ""),
        record("b", "\"a\"", ""),
        boundary,
        summary,
        record("c", "\"s\"", ""),
    ]
    .concat();
    let scene = Scene::new();
    let report = scene.import(&scene.file(&format!("{ID}.jsonl"), text.as_bytes()));
    let first = &report.sessions[0].session_id;
    let whole = scene.events(first).len();
    assert_eq!(whole, if report.sessions.len() == 1 { 5 } else { 2 });
    assert_eq!(scene.restore(first), text.as_bytes());
    (report.problems.iter().map(|problem| problem.kind).collect(), report.sessions.len())
}

#[test]
fn a_compaction_continues_the_record_before_it_if_its_parent_is_in_no_file() {
    assert_eq!(compacted("b"), (vec![], 1));
    assert_eq!(compacted("gone"), (vec![], 1));
    // A parent that is in the file is followed, wherever it is.
    assert_eq!(compacted("a"), (vec![], 2));
}

#[test]
fn a_record_of_an_unknown_type_at_the_beginning_is_not_the_session() {
    let unknown = record("n", "null", "").replace("\"type\":\"user\"", "\"type\":\"novelty\"");
    for parent in ["null", "\"n\""] {
        let later = record("m", "null", "").replace("\"type\":\"user\"", "\"type\":\"novelty\"");
        let text = [unknown.clone(), record("a", parent, ""), later, record("b", "\"a\"", "")];
        let scene = Scene::new();
        let path = format!("{ID}.jsonl");
        // The file is also read in two steps.
        scene.import_as(&scene.file(&path, text[0].as_bytes()), "claude");
        let report = scene.import(&scene.file(&path, text.concat().as_bytes()));
        assert_eq!(report.problems, []);
        let ids = |session: &forklore_core::SessionId| -> Vec<String> {
            let events = scene.events(session).into_iter();
            let events = events.filter(|stored| stored.event.kind.as_str() == "user_message");
            events.map(|stored| stored.event.id.to_string()).collect()
        };
        let main = &report.sessions[0].session_id;
        assert_eq!(scene.engine.show(main).unwrap().label.as_str(), "main");
        assert_eq!(ids(main), ["a", "b"]);
        assert_eq!(report.sessions.len(), 1);
        assert_eq!(scene.restore(main), text.concat().as_bytes());
    }
}

#[test]
fn a_field_of_an_agents_record_does_not_cut_an_answer_short() {
    let answer = record("b", "\"a\"", ",\"partial\":true").replace("user", "assistant");
    let text = [record("a", "null", ""), answer].concat();
    let scene = Scene::new();
    let report = scene.import(&scene.file(&format!("{ID}.jsonl"), text.as_bytes()));
    let session = &report.sessions[0].session_id;
    assert_eq!(scene.engine.show(session).unwrap().counts.index, 2);
    assert!(!scene.engine.is_cut_short(session).unwrap());
}
