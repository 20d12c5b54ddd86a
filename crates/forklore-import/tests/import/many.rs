//! Imports folders with very many small files, as years of short sessions leave them, and a file
//! with many sessions.

use std::fs;
use std::sync::Arc;

use forklore_core::workspace::Workspace;
use forklore_engine::Engine;
use forklore_formats::AGENT_FORMATS;
use forklore_import::{ImportOptions, Importer};
use forklore_sqlite::{Options, SqliteStore};
use forklore_store::memory::MemoryStore;

use crate::counted::Counted;
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

/// Returns the content of a Claude Code file of 6 kB with ten records.
#[cfg(target_os = "linux")]
fn short_session(number: usize) -> String {
    let record = |at: usize| {
        let parent = if at == 0 { "null".to_owned() } else { format!("\"r{number}-{}\"", at - 1) };
        let text = format!("a message of some length in session {number} ").repeat(10);
        format!(
            r#"{{"type":"user","uuid":"r{number}-{at}","parentUuid":{parent},"sessionId":"s{number}","cwd":"/w","timestamp":"2026-01-01T00:00:00Z","message":{{"role":"user","content":"{text}"}}}}
"#
        )
    };
    (0..10).map(record).collect()
}

/// Returns how many bytes this process has passed to the system to be written so far. The number
/// includes the bytes that SQLite writes twice: into its log, and from there into the database.
#[cfg(target_os = "linux")]
fn written() -> u64 {
    let io = fs::read_to_string("/proc/self/io").unwrap();
    let line = io.lines().find_map(|line| line.strip_prefix("wchar: ")).unwrap();
    line.parse().unwrap()
}

/// The import of small files writes at most three times their size. It would write a multiple of
/// that if each file were a commit of its own. `cargo nextest run -p forklore-import
/// crowd_of_small_files_writes --no-capture` prints the numbers.
#[cfg(target_os = "linux")]
#[test]
fn crowd_of_small_files_writes_little() {
    let scene = Scene::sqlite();
    let folder = scene.folder.path().join("projects");
    fs::create_dir_all(&folder).unwrap();
    let mut bytes = 0;
    for number in 0..FILES {
        let text = short_session(number);
        bytes += text.len() as u64;
        fs::write(folder.join(format!("s{number}.jsonl")), text).unwrap();
    }
    let before = written();
    scene.import(&folder);
    let Scene { engine, store, folder: _folder } = scene;
    // Closing the store writes the rest of the log into the database.
    drop((engine, store));
    let written = written() - before;
    println!("{written} bytes written for {bytes} bytes of {FILES} files");
    assert!(written <= 3 * bytes, "{written} bytes written for {bytes}");
}

/// Imports two halves of the files one after the other. Returns how many sources and headers the
/// import of the second half reads from the store, per file.
fn reads_for_each_file(files: &[(String, String)]) -> usize {
    let store = Arc::new(Counted::over(Arc::new(MemoryStore::default())));
    let engine = Engine::new(store.clone()).with_agent_formats(AGENT_FORMATS);
    let folder = tempfile::tempdir().unwrap();
    let (first, last) = files.split_at(files.len() / 2);
    for half in [first, last] {
        store.take();
        let path = folder.path().join(&half[0].0);
        fs::create_dir(&path).unwrap();
        for (name, text) in half {
            fs::write(path.join(format!("{name}.jsonl")), text).unwrap();
        }
        let options = ImportOptions::in_workspace(Workspace::new("/w"));
        let report = Importer::new(&engine).import(&[path], &options, &mut |_| {}).unwrap();
        assert_eq!((report.files, report.problems), (half.len() as u64, Vec::new()));
    }
    store.take() / last.len()
}

#[test]
fn files_that_begin_alike_do_not_read_each_other() {
    let record = |uuid: &str, parent: &str, session: &str, text: &str| {
        format!(
            r#"{{"type":"user","uuid":"{uuid}","parentUuid":{parent},"sessionId":"{session}","cwd":"/w","timestamp":"2026-01-01T00:00:00Z","message":{{"role":"user","content":"{text}"}}}}"#
        )
    };
    let files = 200;
    let named = |text: &dyn Fn(usize) -> String| -> Vec<_> {
        (0..files).map(|n| (format!("f{n:03}"), text(n))).collect()
    };
    // Copies of one session that each go on in their own way.
    let copies = named(&|n| {
        let first = record("same", "null", "s", "the same beginning");
        format!("{first}\n{}\n", record(&format!("u{n}"), "\"same\"", "s", "on"))
    });
    // Sessions that look like copies only because their first records have the same id.
    let alike =
        named(&|n| format!("{}\n", record("same", "null", "s", &"x".repeat(600 + n * 600))));
    // Sessions to all of which the agent gave the same id.
    let header = r#"{"type":"session","version":3,"id":"same","timestamp":"2026-01-01T00:00:00Z","cwd":"/w"}"#;
    let one_id = named(&|n| {
        format!(
            "{header}\n{{\"type\":\"message\",\"id\":\"m{n}\",\"parentId\":null,\"timestamp\":\"2026-01-01T00:00:00Z\",\"message\":{{\"role\":\"user\",\"content\":\"{}\"}}}}\n",
            "x".repeat(n)
        )
    });
    for (what, files) in [("copies", copies), ("alike", alike), ("one id", one_id)] {
        let reads = reads_for_each_file(&files);
        assert!(reads <= 100, "{what}: {reads} reads for each file");
    }
}

/// Returns how many thousand steps SQLite takes to verify a store with one imported file. The file
/// has this number of sessions, because each record is a further root.
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
