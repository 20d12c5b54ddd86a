//! Tests of a store's folder in which people or other tools added, changed or removed files.

use std::fs;

use forklore_conformance::Scene;
use forklore_conformance::events::{turns, user};
use forklore_conformance::scene::{forward, id, label};
use forklore_core::ErrorKind;
use forklore_store::port::{At, Change, Filter};
use forklore_store::{Error, Store};

use crate::scratch::{Scratch, handle};

/// Runs `act` on a store that has a root `a`, its fork `b`, and another root `c`.
fn with_scene(act: impl FnOnce(&Scratch, &Scene<'_>, &dyn Store)) {
    let scratch = Scratch::new();
    let store = scratch.open();
    let make = || handle(&store);
    let scene = Scene::new(&make);
    scene.root("a", turns(2));
    scene.fork("a", "b", 2, turns(1));
    scene.root("c", turns(1));
    act(&scratch, &scene, &*store);
}

fn listed(scene: &Scene<'_>) -> (usize, usize) {
    let found = scene.store().sessions(&Filter::default(), None, 0).unwrap();
    (found.sound.len(), found.damaged.len())
}

#[test]
fn files_of_other_tools_are_passed_over() {
    with_scene(|scratch, scene, maintenance| {
        let root = scratch.root();
        for name in ["workspaces/.DS_Store", "labels/.DS_Store", "ids/.DS_Store", ".DS_Store"] {
            fs::write(root.join(name), "finder").unwrap();
        }
        assert_eq!(listed(scene), (3, 0));
        scene.root("new", turns(1));
        scene.delete("new");
        maintenance.gc().unwrap();
        scene.assert_sound();
    });
}

#[test]
fn an_event_is_found_by_its_number_between_events_of_any_length() {
    with_scene(|_, scene, store| {
        // A search by halves ends in the middle of long lines.
        let lengths = (0..200).map(|number| 10_000 + number * 7_919 % 50_000);
        scene.root("d", lengths.map(|length| user(&"x".repeat(length))).collect());
        for seq in 0..200 {
            let found = store.read(&id("d"), &forward(At::Seq(seq), 1, true)).unwrap();
            assert_eq!(found.events.iter().map(|event| event.seq).collect::<Vec<_>>(), [seq]);
        }
    });
}

#[test]
fn a_folder_instead_of_a_file_damages_only_that_session() {
    with_scene(|scratch, scene, maintenance| {
        fs::create_dir(scratch.file("folder")).unwrap();
        std::os::unix::fs::symlink(scratch.file("a"), scratch.file("link")).unwrap();
        let fifo = std::process::Command::new("mkfifo").arg(scratch.file("pipe")).status().unwrap();
        assert!(fifo.success());
        fs::copy(scratch.file("a"), scratch.file("copied")).unwrap();
        assert_eq!(listed(scene), (3, 4));
        assert_eq!(scene.store().verify(None).unwrap().problems.len(), 4);
        scene.append("a", turns(1));
        scene.delete("c");
        // It is unknown which events the unreadable sessions need, so `gc` must not erase any.
        assert_eq!(maintenance.gc().unwrap_err().kind(), ErrorKind::Corrupt);
    });
}

#[test]
fn a_copied_workspace_is_no_second_session() {
    with_scene(|scratch, scene, _| {
        let folder = scratch.file("a").parent().unwrap().to_owned();
        let copy = folder.with_file_name("backup-1");
        fs::create_dir(&copy).unwrap();
        fs::copy(scratch.file("a"), copy.join("a.jsonl")).unwrap();
        assert_eq!(listed(scene), (3, 1));
        assert_eq!(scene.texts("a"), ["q1", "a1", "q2", "a2"]);
    });
}

#[test]
fn an_id_whose_file_is_lost_is_never_a_new_session() {
    with_scene(|scratch, scene, _| {
        fs::remove_file(scratch.file("a")).unwrap();
        let again = scene.store().create(scene.draft("a", turns(1))).unwrap_err();
        assert!(matches!(again, Error::IdInUse(_)), "{again}");
        assert_eq!(scene.store().header(&id("a")).unwrap_err().kind(), ErrorKind::Corrupt);
        let problems = scene.store().verify(None).unwrap().problems;
        assert!(problems.iter().any(|one| one.session_id == Some(id("a"))), "{problems:?}");
    });
}

#[test]
fn damage_of_one_session_keeps_nobody_from_deleting_another() {
    with_scene(|scratch, scene, maintenance| {
        let whole = fs::read_to_string(scratch.file("b")).unwrap();
        fs::write(scratch.file("b"), whole.replace("\"own_bytes\"", "\"own_Bytes\"")).unwrap();
        scene.delete("c");
        maintenance.gc().unwrap();
        // `gc` must not erase events that the damaged session may need.
        scene.delete("a");
        maintenance.gc().unwrap();
        fs::write(scratch.file("b"), whole).unwrap();
        assert_eq!(scene.texts("b"), ["session_fork", "q1", "a1", "q1", "a1"]);
    });
}

#[test]
fn a_damaged_event_that_nobody_needs_does_not_stay() {
    with_scene(|scratch, scene, maintenance| {
        scene.append("c", vec![user("to be erased")]);
        let whole = fs::read_to_string(scratch.file("c")).unwrap();
        fs::write(scratch.file("c"), whole.replacen("q1", "Q1", 1)).unwrap();
        scene.delete("c");
        maintenance.gc().unwrap();
        assert!(!fs::read_to_string(scratch.file("c")).unwrap().contains("to be erased"));
    });
}

#[test]
fn lines_that_moved_are_missed() {
    with_scene(|scratch, scene, _| {
        let (a, c) = (scratch.file("a"), scratch.file("c"));
        let swap = |text: &str, other: &str| {
            let mut lines: Vec<_> = text.lines().collect();
            lines[1] = other.lines().nth(1).unwrap();
            lines.join("\n") + "\n"
        };
        let (first, second) = (fs::read_to_string(&a).unwrap(), fs::read_to_string(&c).unwrap());
        assert_eq!(first.lines().nth(1).unwrap().len(), second.lines().nth(1).unwrap().len());
        fs::write(&a, swap(&first, &second)).unwrap();
        fs::write(&c, swap(&second, &first)).unwrap();
        let query =
            forklore_conformance::scene::forward(forklore_store::port::At::Seq(0), 9, false);
        for session in ["a", "c"] {
            scene.store().read(&id(session), &query).unwrap_err();
        }
        assert_eq!(scene.store().verify(None).unwrap().problems.len(), 2);
    });
}

/// Creates a session in four steps of one event each, and returns the lines of its file: the first
/// line, and then an event line and a commit line for each step. In the last three steps, all event
/// lines have the same length, and so do all commit lines.
fn steps(scratch: &Scratch, scene: &Scene<'_>) -> Vec<String> {
    scene.root("s", vec![user(&"q".repeat(300))]);
    for text in ["2", "3", "4"] {
        scene.append("s", vec![user(&text.repeat(200))]);
    }
    let whole = fs::read_to_string(scratch.file("s")).unwrap();
    let lines: Vec<_> = whole.lines().map(str::to_owned).collect();
    assert_eq!(lines.len(), 9);
    for kind in [[3, 5, 7], [4, 6, 8]] {
        let lengths = kind.map(|line| lines[line].len());
        assert_eq!(lengths, [lengths[0]; 3], "{whole}");
    }
    lines
}

#[test]
fn lines_in_another_order_are_never_a_shorter_history() {
    with_scene(|scratch, scene, store| {
        let lines = steps(scratch, scene);
        let before = scene.log("s");
        let pairs = (1..9).flat_map(|one| (1..9).map(move |other| (one, other)));
        for (one, other) in pairs.filter(|(one, other)| one != other) {
            // Swap the two lines, or overwrite one with the other.
            let (mut swapped, mut doubled) = (lines.clone(), lines.clone());
            swapped.swap(one, other);
            doubled[other].clone_from(&lines[one]);
            for damaged in [swapped, doubled] {
                fs::write(scratch.file("s"), damaged.join("\n") + "\n").unwrap();
                let query = forklore_conformance::scene::forward(
                    forklore_store::port::At::Seq(0),
                    9,
                    false,
                );
                match store.read(&id("s"), &query) {
                    Ok(page) => assert_eq!(page.events, before, "lines {one} and {other}"),
                    Err(error) => assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}"),
                }
                let problems = store.verify(None).unwrap().problems;
                assert!(!problems.is_empty(), "lines {one} and {other}");
                assert!(problems.iter().all(|one| one.session_id == Some(id("s"))), "{problems:?}");
                // If only `verify` reads the misplaced line, an append may succeed. It then
                // continues at the end of the history.
                if store.append(&id("s"), scene.appending(vec![user("q5")])).is_ok() {
                    let seqs: Vec<_> = scene.log("s").iter().map(|event| event.seq).collect();
                    assert_eq!(seqs, [0, 1, 2, 3, 4], "lines {one} and {other}");
                }
            }
        }
    });
}

#[test]
fn the_health_check_finds_a_session_whose_last_commit_is_an_earlier_one() {
    with_scene(|scratch, scene, _| {
        let mut lines = steps(scratch, scene);
        lines.swap(6, 8);
        fs::write(scratch.file("s"), lines.join("\n") + "\n").unwrap();
        let report = format!("{:?}", forklore_files::FilesStore::health(&scratch.root()));
        assert!(report.contains("s.jsonl") && report.contains("another step"), "{report}");
    });
}

#[test]
fn a_damaged_pending_step_is_reported() {
    with_scene(|scratch, scene, _| {
        fs::write(scratch.root().join("pending.json"), "{\"forklore\":1,\"pend").unwrap();
        let problems = scene.store().verify(None).unwrap().problems;
        assert!(problems[0].message.contains("pending.json"), "{problems:?}");
        assert_eq!(scene.texts("c"), ["q1", "a1"]);
        scene.store().append(&id("c"), scene.appending(turns(1))).unwrap_err();
    });
}

#[test]
fn a_torn_tail_that_is_no_text_is_set_aside_by_a_delete_too() {
    with_scene(|scratch, scene, _| {
        let mut bytes = fs::read(scratch.file("c")).unwrap();
        bytes.extend_from_slice(b"{\"id\":\"\xe2\x82");
        fs::write(scratch.file("c"), bytes).unwrap();
        scene.delete("c");
        assert!(scene.header("c").deleted.is_some());
    });
}

#[test]
fn a_label_of_a_damaged_session_stays_in_use() {
    with_scene(|scratch, scene, _| {
        scene.change("b", &Change::Label(label("x")));
        let whole = fs::read_to_string(scratch.file("b")).unwrap();
        fs::write(scratch.file("b"), whole.replacen("forklore", "forkLore", 1)).unwrap();
        let relabel = scene.store().change(&id("a"), &Change::Label(label("x"))).unwrap_err();
        assert!(matches!(relabel, Error::LabelInUse { .. }), "{relabel}");
    });
}

#[test]
fn the_claim_of_another_session_promises_nothing() {
    with_scene(|scratch, scene, _| {
        let before = scene.log("b");
        fs::copy(scratch.root().join("ids/a"), scratch.root().join("ids/b")).unwrap();
        assert_eq!(scene.log("b"), before);
        scene.append("b", turns(1));
        scene.assert_sound();
    });
}
