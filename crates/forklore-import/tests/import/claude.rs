//! Imports files of Claude Code whose records name parents in a way of their own.

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
