//! Imports Pixir's logs. A fork is a separate log that contains its parent's events under new ids.

use std::path::PathBuf;

use forklore_core::{Message, SessionId, SessionKind};
use forklore_import::ProblemKind;

use crate::files::testdata;
use crate::scene::Scene;

const ROOT: &str = "20260302T090000-a1b2c3";
const FORK: &str = "20260302T093000-d4e5f6";

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
