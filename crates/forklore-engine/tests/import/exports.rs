//! What is exported is read again, and says the same.

use std::collections::HashSet;
use std::path::Path;

use forklore_engine::{ExportTo, Fork};
use forklore_model::{Content, Role, Selector, SessionId};
use serde_json::Value;

use crate::files::testdata;
use crate::scene::Scene;

/// What a model would receive; of results their text, as those made here are written in Pi's form.
fn said(scene: &Scene, session: &SessionId) -> Vec<(Role, Content)> {
    let messages = scene.engine.inspect(session).unwrap().messages;
    let said = messages.into_iter().map(|message| match message.role {
        Role::Tool => (Role::Tool, Content::Text(message.plain_text())),
        role => (role, message.content),
    });
    said.collect()
}

/// The session as a file of Pi.
fn exported(scene: &Scene, session: &SessionId) -> String {
    let request = ExportTo { dialect: "pi".into(), at: None, cwd: None };
    let mut bytes = Vec::new();
    scene.engine.export_to(session, &request).unwrap().write(&mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

/// One chain of records with ids of their own behind a header of the present version, which is
/// what Pi goes on in.
fn assert_one_chain(file: &str) {
    let lines = file.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let lines: Vec<Value> = lines.collect();
    assert_eq!((&lines[0]["type"], &lines[0]["version"]), (&"session".into(), &3.into()));
    let (mut tip, mut ids) = (Value::Null, HashSet::new());
    for line in &lines[1..] {
        assert_eq!(line["parentId"], tip, "{line}");
        tip = line["id"].clone();
        assert!(ids.insert(tip.as_str().unwrap().to_owned()), "{line}");
        // Versions 1 and 2 called it so.
        assert_ne!(line["message"]["role"], "hookMessage");
        if line["type"] == "compaction" {
            // Version 1 named the record by its place only.
            assert!(ids.contains(line["firstKeptEntryId"].as_str().unwrap()), "{line}");
        }
    }
}

fn every_cut_says_the_same(folder: &Path) {
    let scene = Scene::new();
    let mut cuts = 0;
    for session in scene.import(folder).sessions {
        let header = scene.engine.show(&session.session_id).unwrap();
        for seq in 0..=header.head_seq() {
            let fork = Fork::of(header.id.clone()).at(Selector::Seq(seq));
            let Ok(fork) = scene.engine.fork(&fork) else { continue };
            let file = exported(&scene, &fork.child_session_id);
            assert_one_chain(&file);
            let again = Scene::new();
            let report = again.import(&again.file("again.jsonl", file.as_bytes()));
            assert_eq!(report.problems, [], "{} at seq:{seq}", header.id);
            let read = said(&again, &report.sessions[0].session_id);
            assert_eq!(read, said(&scene, &fork.child_session_id), "{} at seq:{seq}", header.id);
            cuts += 1;
        }
    }
    assert!(cuts > 5, "{cuts}");
}

#[test]
fn forks_of_the_first_version_of_pi_go_on_in_the_present_one() {
    every_cut_says_the_same(&testdata().join("pi/v1"));
}

#[test]
fn forks_of_the_second_version_of_pi_go_on_in_the_present_one() {
    every_cut_says_the_same(&testdata().join("pi/v2"));
}
