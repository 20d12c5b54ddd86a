//! Tests that any tool can read the files: each line is one JSON object, and event lines contain
//! the event's envelope.

use std::fs;

use forklore_conformance::Scene;
use forklore_conformance::events::{turns, user};
use serde_json::Value;

use crate::scratch::{Scratch, handle};

fn lines(bytes: &[u8]) -> Vec<Value> {
    let text = std::str::from_utf8(bytes).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_session_is_a_file_of_json_lines_in_the_folder_of_its_workspace() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let make = || handle(&store);
    let scene = Scene::new(&make);
    scene.root("a", turns(1));
    scene.append("a", vec![user("more")]);
    scene.fork("a", "b", 2, vec![user("mine")]);
    let a = lines(&fs::read(scratch.file("a")).unwrap());
    let shape: Vec<_> = a
        .iter()
        .map(|line| match (&line["session"]["id"], &line["data"]["content"], &line["commit"]) {
            (Value::String(id), ..) => format!("session {id}"),
            (_, Value::String(text), _) => format!("{} {text}", line["seq"]),
            (_, _, commit) => format!("commit {}", commit["own_events"]),
        })
        .collect();
    assert_eq!(shape, ["session a", "0 q1", "1 a1", "commit 2", "2 more", "commit 3"]);
    // The file of a fork that shares its prefix contains only the events that the fork wrote
    // itself.
    let b = lines(&fs::read(scratch.file("b")).unwrap());
    let events: Vec<_> = b.iter().filter(|line| line["type"].is_string()).collect();
    assert_eq!(events.len(), 2);
    let kind = |at: usize| events[at]["type"].as_str().unwrap();
    assert_eq!((kind(0), kind(1)), ("session_fork", "user_message"));
    assert_eq!(events[1]["seq"], 3);
    assert_eq!(events[1]["parent_id"], "a");
    for (path, bytes) in scratch.files() {
        let text = std::str::from_utf8(&bytes).unwrap();
        for line in text.lines() {
            let value: Value = serde_json::from_str(line).unwrap();
            assert!(value["crc"].is_string(), "{}: {line}", path.display());
        }
    }
}

#[test]
fn strange_ids_get_names_that_every_file_system_takes() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let make = || handle(&store);
    let scene = Scene::new(&make);
    for id in ["Nul", "é", "a.b", "UPPER"] {
        scene.root(id, turns(1));
        assert_eq!(scene.header(id).id.as_str(), id);
    }
    let mut names: Vec<_> = scratch.files().into_iter().map(|(path, _)| path).collect();
    names.retain(|path| path.starts_with(scratch.root().join("workspaces")));
    let names: Vec<_> =
        names.iter().map(|path| path.file_stem().unwrap().to_str().unwrap()).collect();
    let hash = |text: &str| format!("~{}", &blake3::hash(text.as_bytes()).to_hex()[..32]);
    let mut expected = vec![hash("nul"), hash("é"), hash("a.b"), "upper".into()];
    expected.sort();
    assert_eq!(names, expected);
}

#[test]
fn the_indexes_can_be_lost() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let make = || handle(&store);
    let scene = Scene::new(&make);
    scene.root("a", turns(2));
    scene.fork("a", "b", 2, turns(1));
    let before = (scene.log("a"), scene.log("b"));
    for folder in ["ids", "labels"] {
        fs::remove_dir_all(scratch.root().join(folder)).unwrap();
        fs::create_dir(scratch.root().join(folder)).unwrap();
    }
    assert_eq!((scene.log("a"), scene.log("b")), before);
    let problems = scene.store().verify(None).unwrap().problems;
    assert_eq!(problems.len(), 4, "{problems:?}");
    scene.append("b", turns(1));
    let outcome = scene.draft("A", vec![]);
    assert!(matches!(scene.store().create(outcome), Err(forklore_store::Error::IdInUse(_))));
}
