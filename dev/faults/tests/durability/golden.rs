//! Tests that golden stores of each format version still open and give their original answers.
//!
//! To create golden stores of a new version, run `FORKLORE_GOLDEN=2 cargo xtask test -p
//! forklore-faults golden`, where 2 is the new version.

use std::fs;
use std::path::{Path, PathBuf};

use forklore_faults::golden::{self, Answers};
use forklore_faults::kind::Kind;

/// The kinds of stores, each with the prefix of the names of its golden stores.
pub(crate) const STORES: [(Kind, &str); 2] = [(Kind::Sqlite, "sqlite"), (Kind::Files, "files")];

/// Returns the directories of the golden stores of a kind. Each directory contains `store`, the
/// store itself, and `answers.json`, its expected answers.
pub(crate) fn stores(kind: Kind, name: &str) -> Vec<PathBuf> {
    if let Some(version) = std::env::var_os("FORKLORE_GOLDEN") {
        make(kind, &golden::folder().join(format!("{name}-v{}", version.to_str().unwrap())));
    }
    let mut found: Vec<_> =
        fs::read_dir(golden::folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.retain(|path| path.file_name().unwrap().to_str().unwrap().starts_with(name));
    found.sort();
    assert!(!found.is_empty(), "no golden store of {name}");
    found
}

fn make(kind: Kind, folder: &Path) {
    if folder.exists() {
        return;
    }
    let store = folder.join("store");
    fs::create_dir_all(&store).unwrap();
    let opened = kind.open(&store).unwrap();
    golden::write(&opened.engine).unwrap();
    let answers = Answers::of(&opened.engine).unwrap();
    assert_eq!(opened.engine.verify(None).unwrap().problems, []);
    let text = serde_json::to_string_pretty(&answers).unwrap();
    fs::write(folder.join("answers.json"), text + "\n").unwrap();
    drop(opened);
    fs::remove_file(store.join("store.db-lock")).ok();
}

/// Copies a golden store to the directory `to`, and returns its expected answers.
pub(crate) fn copy(golden: &Path, to: &Path) -> Answers {
    copy_all(&golden.join("store"), to);
    let text = fs::read_to_string(golden.join("answers.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

pub(crate) fn copy_all(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_all(&entry.path(), &target);
        } else {
            // Permissions are not copied, because a checkout may be read-only.
            fs::write(target, fs::read(entry.path()).unwrap()).unwrap();
        }
    }
}

#[test]
fn golden_stores_give_the_answers_they_gave() {
    for (kind, name) in STORES {
        for golden in stores(kind, name) {
            let dir = tempfile::tempdir().unwrap();
            let expected = copy(&golden, dir.path());
            let opened = kind.open(dir.path()).unwrap();
            let answers = Answers::of(&opened.engine).unwrap();
            assert_eq!(answers.headers, expected.headers, "{}", golden.display());
            assert_eq!(answers.logs, expected.logs, "{}", golden.display());
            assert_eq!(answers.restored, expected.restored, "{}", golden.display());
            let report = opened.engine.verify(None).unwrap();
            assert_eq!(report.problems, [], "{}", golden.display());
            println!(
                "golden {}: {} sessions, {} events, {} files",
                golden.file_name().unwrap().to_str().unwrap(),
                report.sessions,
                report.events,
                expected.restored.len()
            );
        }
    }
}

#[test]
fn golden_stores_are_written_on() {
    use forklore::engine::{Fork, NewEvent};
    for (kind, name) in STORES {
        for golden in stores(kind, name) {
            let dir = tempfile::tempdir().unwrap();
            let expected = copy(&golden, dir.path());
            let opened = kind.open(dir.path()).unwrap();
            let deepest = "golden-deep-35".parse().unwrap();
            let child = opened.engine.fork(&Fork::of(deepest)).unwrap().child_session_id;
            let more = vec![NewEvent::user("still here").unwrap()];
            opened.engine.append(&child, &more.into()).unwrap();
            let log = golden::log(&opened.engine, &child).unwrap();
            assert_eq!(log.len(), expected.logs["golden-deep-35"].len() + 1);
            assert_eq!(opened.engine.verify(None).unwrap().problems, []);
        }
    }
}
