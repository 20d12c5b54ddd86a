//! Imports files again that were moved, copied or rewritten since, or whose sessions were continued
//! or deleted in forklore.

use forklore_core::{ErrorKind, SessionId};
use forklore_engine::{Delete, DeleteMode, NewEvent};
use forklore_import::{ImportOptions, ImportReport, ProblemKind};

use crate::scene::Scene;

fn record(id: &str, parent: Option<&str>, role: &str, text: &str) -> String {
    let parent = parent.map_or("null".into(), |parent| format!("\"{parent}\""));
    format!(
        "{{\"type\":\"message\",\"id\":\"{id}\",\"parentId\":{parent},\
         \"timestamp\":\"2026-01-01T00:00:00Z\",\"message\":{{\"role\":\"{role}\",\
         \"content\":\"{text}\"}}}}\n"
    )
}

fn header(id: &str) -> String {
    format!(
        "{{\"type\":\"session\",\"version\":3,\"id\":\"{id}\",\
         \"timestamp\":\"2026-01-01T00:00:00Z\",\"cwd\":\"/home/dev/place\"}}\n"
    )
}

fn two_turns() -> String {
    header("s1") + &record("a", None, "user", "one") + &record("b", Some("a"), "assistant", "two")
}

fn ids(report: &ImportReport) -> Vec<String> {
    report.sessions.iter().map(|session| session.session_id.to_string()).collect()
}

#[test]
fn an_equal_copy_is_a_further_path_and_a_moved_file_is_found_again() {
    let scene = Scene::new();
    let first = scene.file("first.jsonl", two_turns().as_bytes());
    assert_eq!(ids(&scene.import(&first)), ["s1"]);
    let copy = scene.file("copy.jsonl", two_turns().as_bytes());
    assert_eq!(ids(&scene.import(&copy)), ["s1"]);
    std::fs::remove_file(&first).unwrap();
    std::fs::remove_file(&copy).unwrap();
    let grown = two_turns() + &record("c", Some("b"), "user", "three");
    let moved = scene.import(&scene.file("moved.jsonl", grown.as_bytes()));
    assert_eq!(ids(&moved), ["s1"]);
    assert_eq!(moved.sessions[0].appended, 1);
    let s1 = "s1".parse().unwrap();
    assert_eq!(scene.source(&s1).paths.len(), 3);
    assert_eq!(scene.restore(&s1), grown.as_bytes());
}

#[test]
fn a_file_that_only_begins_like_another_is_a_source_of_its_own() {
    let scene = Scene::new();
    scene.import(&scene.file("first.jsonl", two_turns().as_bytes()));
    let longer = two_turns() + &record("c", Some("b"), "user", "three");
    let other = scene.import(&scene.file("other.jsonl", longer.as_bytes()));
    let id = forklore_core::agent_format::session_id("pi", "s1", 1).unwrap();
    assert_eq!(ids(&other), [id.as_str()]);
    assert_eq!(scene.restore(&"s1".parse().unwrap()), two_turns().as_bytes());
    assert_eq!(scene.restore(&id), longer.as_bytes());
}

#[test]
fn a_rewritten_file_is_a_new_revision_and_the_old_one_stays() {
    let scene = Scene::sqlite();
    scene.import(&scene.file("a.jsonl", two_turns().as_bytes()));
    let other = header("s1") + &record("x", None, "user", "something else entirely");
    let report = scene.import(&scene.file("a.jsonl", other.as_bytes()));
    assert_eq!(report.problems[0].kind, ProblemKind::Rewritten);
    let new = report.sessions[0].session_id.clone();
    assert_eq!(new, forklore_core::agent_format::session_id("pi", "s1", 1).unwrap());
    assert_eq!(scene.source(&new).revision, 1);
    assert_eq!(scene.restore(&new), other.as_bytes());
    assert_eq!(scene.restore(&"s1".parse().unwrap()), two_turns().as_bytes());
}

#[test]
fn a_file_read_before_is_read_by_its_agents_format_whatever_it_became() {
    for scene in [Scene::new(), Scene::sqlite(), Scene::files()] {
        scene.import(&scene.file("a.jsonl", two_turns().as_bytes()));
        // The first line, by which Pi's format is detected, is damaged.
        let damaged = two_turns().replacen("{\"type\":\"session\"", "{\"tipe\":!session\"", 1);
        let report = scene.import(&scene.file("a.jsonl", damaged.as_bytes()));
        let kinds: Vec<_> = report.problems.iter().map(|problem| problem.kind).collect();
        assert_eq!(kinds, [ProblemKind::Rewritten, ProblemKind::Damage]);
        let new = report.sessions[0].session_id.clone();
        assert_eq!(scene.restore(&new), damaged.as_bytes());
        assert_eq!(scene.restore(&"s1".parse().unwrap()), two_turns().as_bytes());

        // The file no longer contains a session. The imported sessions remain, and the report names
        // the file.
        let report = scene.import(&scene.file("a.jsonl", b"gone\n"));
        assert_eq!((report.files, report.skipped), (0, 1));
        let kinds: Vec<_> = report.problems.iter().map(|problem| problem.kind).collect();
        assert_eq!(kinds, [ProblemKind::Rewritten, ProblemKind::Damage]);
        assert_eq!(scene.restore(&new), damaged.as_bytes());
    }
}

#[test]
fn growth_of_a_continued_session_goes_into_one_fork() {
    for scene in [Scene::new(), Scene::sqlite(), Scene::files()] {
        scene.import(&scene.file("a.jsonl", two_turns().as_bytes()));
        let s1: SessionId = "s1".parse().unwrap();
        let here = NewEvent::user("said here").unwrap();
        scene.engine.append(&s1, &vec![here].into()).unwrap();
        let mut text = two_turns() + &record("c", Some("b"), "user", "three");
        let grown = scene.import(&scene.file("a.jsonl", text.as_bytes()));
        assert_eq!(grown.sessions.len(), 2);
        let fork = grown.sessions[1].clone();
        assert_eq!(fork.parent_session_id, Some(s1.clone()));
        assert_eq!(fork.cut.unwrap().index, 2);
        text += &record("d", Some("c"), "assistant", "four");
        let more = scene.import(&scene.file("a.jsonl", text.as_bytes()));
        assert_eq!(ids(&more), ids(&grown));
        assert_eq!(more.sessions[1].appended, 1);
        assert_eq!(scene.restore(&s1), text.as_bytes());
        assert_eq!(scene.restore(&fork.session_id), text.as_bytes());
        assert_eq!(scene.engine.show(&s1).unwrap().leaf, Some(fork.session_id));
    }
}

#[test]
fn a_deleted_session_stays_deleted_unless_forced() {
    for scene in [Scene::new(), Scene::sqlite(), Scene::files()] {
        let path = scene.file("a.jsonl", two_turns().as_bytes());
        scene.import(&path);
        let s1: SessionId = "s1".parse().unwrap();
        scene
            .engine
            .delete(&Delete {
                session: s1.clone(),
                mode: DeleteMode::Refuse,
                dry_run: false,
                erase: true,
            })
            .unwrap();
        let mut nowhere = Vec::new();
        let error = scene.engine.restore(&s1, &mut nowhere).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Conflict);
        assert_eq!(error.details()["deleted"][0], "s1");

        let skipped = scene.import(&path);
        assert_eq!((skipped.files, skipped.skipped, skipped.sessions.len()), (0, 1, 0));
        let text = two_turns() + &record("c", Some("b"), "user", "three");
        let grown = scene.import(&scene.file("a.jsonl", text.as_bytes()));
        assert_eq!((grown.files, grown.sessions.len()), (0, 0));

        let again = ImportOptions { again: true, ..Scene::options() };
        let report = scene.import_with(&path, &again);
        let id = forklore_core::agent_format::session_id("pi", "s1", 1).unwrap();
        assert_eq!(ids(&report), [id.as_str()]);
        assert_eq!(scene.restore(&id), text.as_bytes());
    }
}

/// Returns all files in a folder and its subfolders that contain `text`.
fn holding(folder: &std::path::Path, text: &str) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(holding(&path, text));
        } else {
            let bytes = std::fs::read(&path).unwrap();
            let holds = bytes.windows(text.len()).any(|at| at == text.as_bytes());
            found.extend(holds.then_some(path));
        }
    }
    found
}

#[test]
fn what_a_deleted_session_was_called_is_in_no_file_either() {
    for scene in [Scene::sqlite(), Scene::files()] {
        let titled = "{\"type\":\"session_info\",\"id\":\"i\",\"parentId\":\"b\",\
             \"timestamp\":\"2026-01-01T00:00:02Z\",\"name\":\"the launch code\"}\n";
        let path = scene.file("a.jsonl", (two_turns() + titled).as_bytes());
        scene.import(&path);
        let s1: SessionId = "s1".parse().unwrap();
        assert_eq!(scene.engine.show(&s1).unwrap().title.as_deref(), Some("the launch code"));
        // A second import, of the grown file, does not change the title.
        let grown = two_turns() + titled + &record("c", Some("i"), "user", "three");
        scene.import(&scene.file("a.jsonl", grown.as_bytes()));
        assert_eq!(scene.engine.show(&s1).unwrap().title.as_deref(), Some("the launch code"));
        std::fs::remove_file(&path).unwrap();
        assert!(!holding(scene.folder.path(), "the launch code").is_empty());
        let delete = Delete { session: s1, mode: DeleteMode::Refuse, dry_run: false, erase: true };
        scene.engine.delete(&delete).unwrap();
        scene.engine.gc().unwrap();
        let left = holding(scene.folder.path(), "the launch code");
        assert_eq!(left, [""; 0].map(std::path::PathBuf::from));
    }
}

#[test]
fn links_that_lead_out_of_the_folder_are_not_followed() {
    let scene = Scene::new();
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("b.jsonl"), two_turns()).unwrap();
    std::fs::create_dir(scene.folder.path().join("in")).unwrap();
    let folder = scene.folder.path().join("in");
    std::fs::write(folder.join("a.jsonl"), header("s2") + &record("a", None, "user", "x")).unwrap();
    std::os::unix::fs::symlink(outside.path(), folder.join("out")).unwrap();
    std::os::unix::fs::symlink(outside.path().join("b.jsonl"), folder.join("c.jsonl")).unwrap();
    std::os::unix::fs::symlink(&folder, folder.join("round")).unwrap();
    assert_eq!(ids(&scene.import(&folder)), ["s2"]);
}

#[test]
fn the_file_is_never_touched_and_its_folder_names_the_workspace() {
    let scene = Scene::new();
    let path = scene.file("a.jsonl", two_turns().as_bytes());
    let before = std::fs::metadata(&path).unwrap().modified().unwrap();
    scene.import(&path);
    assert_eq!(std::fs::metadata(&path).unwrap().modified().unwrap(), before);
    let header = scene.engine.show(&"s1".parse().unwrap()).unwrap();
    assert_eq!(header.workspace.as_str(), "/home/dev/place");
    let plain = scene.file("p.jsonl", b"{\"role\":\"user\",\"content\":\"x\"}\n");
    scene.import(&plain);
    let header = scene.engine.show(&"p".parse().unwrap()).unwrap();
    assert_eq!(header.workspace.as_str(), "/here");
}
