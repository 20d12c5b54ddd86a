//! Imports files with thousands of sessions: branches and further roots. Their default labels collide
//! often, because two words make 65,536 names.

use std::collections::HashSet;

use forklore_core::Label;

use crate::scene::Scene;

const SESSIONS: usize = 2_000;

/// Returns the content of a Claude Code file with one record per session. Each record continues
/// `parent`, so that it begins a session of its own.
fn records(sessions: usize, parent: Option<&str>) -> String {
    let record = |number: usize| {
        let parent = match parent {
            Some(parent) if number > 0 => format!("\"{parent}\""),
            _ => "null".into(),
        };
        format!(
            r#"{{"type":"user","uuid":"u{number}","parentUuid":{parent},"sessionId":"s","cwd":"/w","timestamp":"2026-01-01T00:00:00Z","message":{{"role":"user","content":"question {number}"}}}}
"#
        )
    };
    (0..sessions).map(record).collect()
}

/// Imports the file into an empty store, and then more records of it. Each session has a label of its
/// own, and the file is restored as it was.
fn is_imported_whole(scene: &Scene, parent: Option<&str>) {
    // With a parent, the second record continues the session of the first one.
    let sessions = SESSIONS + usize::from(parent.is_some());
    let text = records(sessions + 100, parent);
    let first: usize = text.split_inclusive('\n').take(sessions).map(str::len).sum();
    for (bytes, expected) in [(first, SESSIONS), (text.len(), SESSIONS + 100)] {
        let report = scene.import(&scene.file("s.jsonl", &text.as_bytes()[..bytes]));
        assert_eq!((report.sessions.len(), report.problems), (expected, Vec::new()));
        let sessions = scene.sessions();
        let labels: HashSet<&Label> = sessions.iter().map(|header| &header.label).collect();
        assert_eq!((sessions.len(), labels.len()), (expected, expected));
        assert!(sessions.iter().all(|header| header.root_id == report.sessions[0].session_id));
    }
    assert_eq!(scene.restore(&scene.sessions()[SESSIONS / 2].id), text.as_bytes());
}

#[test]
fn branches_in_one_file_are_imported_into_memory_and_sqlite() {
    for scene in [Scene::new(), Scene::sqlite()] {
        is_imported_whole(&scene, Some("u0"));
    }
}

#[test]
fn branches_in_one_file_are_imported_into_files() {
    is_imported_whole(&Scene::files(), Some("u0"));
}

#[test]
fn roots_in_one_file_are_imported_into_memory_and_sqlite() {
    for scene in [Scene::new(), Scene::sqlite()] {
        is_imported_whole(&scene, None);
    }
}

#[test]
fn roots_in_one_file_are_imported_into_files() {
    is_imported_whole(&Scene::files(), None);
}
