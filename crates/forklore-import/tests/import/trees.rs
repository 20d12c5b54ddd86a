//! Imports files with random trees of records. Every byte is restored, every record becomes one
//! event, and every session follows the records' parents.

use std::collections::HashMap;

use forklore_core::SessionId;
use proptest::prelude::*;

use crate::scene::Scene;

/// Generates records, each given by the number of its parent. The number may be missing, or be that
/// of the record itself or of a later record.
fn trees() -> impl Strategy<Value = Vec<Option<usize>>> {
    prop::collection::vec(prop::option::weighted(0.9, 0..40_usize), 1..40)
}

fn line(id: usize, parent: Option<usize>) -> String {
    let parent = parent.map_or("null".into(), |parent| format!("\"r{parent}\""));
    let role = if id.is_multiple_of(3) { "user" } else { "assistant" };
    format!(
        "{{\"type\":\"message\",\"id\":\"r{id}\",\"parentId\":{parent},\
         \"timestamp\":\"2026-01-01T00:00:00Z\",\"message\":{{\"role\":\"{role}\",\"content\":\"{id}\"}}}}\n"
    )
}

/// Returns the ids from the root to this record. Ignores a parent that does not precede its child.
fn ancestors(parents: &[Option<usize>], mut id: usize) -> Vec<String> {
    let mut path = vec![format!("r{id}")];
    while let Some(parent) = parents[id].filter(|parent| *parent < id) {
        path.push(format!("r{parent}"));
        id = parent;
    }
    path.reverse();
    path
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_record_stands_behind_its_ancestors(parents in trees(), cut in 0.0..1.0_f64) {
        let text: String = parents.iter().enumerate().map(|(id, parent)| line(id, *parent)).collect();
        let scene = Scene::new();
        let cut = (text.len() as f64 * cut) as usize;
        scene.import_as(&scene.file("t.jsonl", &text.as_bytes()[..cut]), "pi");
        let report = scene.import_as(&scene.file("t.jsonl", text.as_bytes()), "pi");
        let mut logs: HashMap<String, Vec<String>> = HashMap::new();
        for session in &report.sessions {
            let id: &SessionId = &session.session_id;
            prop_assert_eq!(scene.restore(id), text.as_bytes());
            let events = scene.events(id);
            let named = |kind: &str| kind != "session_fork";
            let log: Vec<String> = events.iter().filter(|e| named(e.event.kind.as_str())).map(|e| e.event.id.to_string()).collect();
            for (at, stored) in events.iter().filter(|e| named(e.event.kind.as_str())).enumerate() {
                if Scene::is_own(stored, id) {
                    let before = logs.insert(log[at].clone(), log[..=at].to_vec());
                    prop_assert_eq!(before, None);
                }
            }
        }
        prop_assert_eq!(logs.len(), parents.len());
        for (id, _) in parents.iter().enumerate() {
            prop_assert_eq!(&logs[&format!("r{id}")], &ancestors(&parents, id));
        }
        let leaf = report.sources[0].meant().map(|(leaf, _)| leaf.clone()).unwrap();
        let last = scene.events(&leaf).pop().unwrap().event.id.to_string();
        prop_assert_eq!(last, format!("r{}", parents.len() - 1));
    }
}
