//! Imports a folder with 5,000 small files, as years of short sessions leave it, and a file with many
//! sessions.

use std::fs;
use std::sync::Arc;

use forklore_sqlite::{Options, SqliteStore};

use crate::scene::Scene;

const FILES: usize = 5_000;
const FOLDERS: usize = 50;

/// Returns the content of a Claude Code file with one question and one answer.
fn session(number: usize) -> String {
    format!(
        r#"{{"type":"user","uuid":"u{number}","parentUuid":null,"sessionId":"s{number}","cwd":"/w","timestamp":"2026-01-01T00:00:00Z","message":{{"role":"user","content":"question {number}"}}}}
{{"type":"assistant","uuid":"a{number}","parentUuid":"u{number}","sessionId":"s{number}","cwd":"/w","timestamp":"2026-01-01T00:00:01Z","message":{{"role":"assistant","content":[{{"type":"text","text":"answer {number}"}}]}}}}
"#
    )
}

#[test]
fn crowd_of_small_files_is_imported_whole() {
    let scene = Scene::sqlite();
    let folder = scene.folder.path().join("projects");
    let mut bytes = 0;
    for at in 0..FOLDERS {
        let inside = folder.join(format!("-w-{at}"));
        fs::create_dir_all(&inside).unwrap();
        for number in (at..FILES).step_by(FOLDERS) {
            let text = session(number);
            bytes += text.len() as u64;
            fs::write(inside.join(format!("s{number}.jsonl")), text).unwrap();
        }
    }
    let report = scene.import(&folder);
    let appended: u64 = report.sessions.iter().map(|session| session.appended).sum();
    let read: u64 = report.sources.iter().map(|file| file.bytes).sum();
    let counts = (report.files, report.sessions.len(), appended, read);
    assert_eq!(counts, (FILES as u64, FILES, 2 * FILES as u64, bytes));
    assert_eq!((report.problems.len(), report.skipped, report.unchanged), (0, 0, 0));

    let sessions = scene.sessions();
    assert_eq!(sessions.len(), FILES);
    assert!(sessions.iter().all(|header| header.head_seq() == 1));
    let one = &sessions[FILES / 2].id;
    let number = one.as_str().trim_start_matches('s').parse().unwrap();
    assert_eq!(scene.restore(one), session(number).into_bytes());

    let again = scene.import(&folder);
    assert_eq!((again.files, again.unchanged), (FILES as u64, FILES as u64));
    assert!(again.sessions.iter().all(|session| session.appended == 0));
    assert_eq!(scene.sessions().len(), FILES);
}

/// Returns how many thousand steps SQLite takes to verify a store with one file that has `sessions`
/// sessions: each record is a further root.
fn steps_to_verify(sessions: usize) -> u64 {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    let store = Arc::new(SqliteStore::open(&path, Options::default()).unwrap());
    let scene = Scene::over(store.clone(), folder);
    let record = |number: usize| {
        format!(
            r#"{{"type":"user","uuid":"u{number}","parentUuid":null,"sessionId":"s","cwd":"/w","timestamp":"2026-01-01T00:00:00Z","message":{{"role":"user","content":"question {number}"}}}}
"#
        )
    };
    let file = scene.file("s.jsonl", (0..sessions).map(record).collect::<String>().as_bytes());
    assert_eq!(scene.import(&file).sessions.len(), sessions);
    let before = store.kilosteps();
    let report = scene.engine.verify(None).unwrap();
    assert_eq!((report.sessions, report.problems.len()), (sessions as u64, 0));
    store.kilosteps() - before
}

#[test]
fn verify_takes_as_long_for_each_of_many_sessions_of_a_file() {
    let (few, many) = (steps_to_verify(200), steps_to_verify(800));
    assert!(many < 6 * few, "{few}k steps for 200 sessions, {many}k for 800");
}
