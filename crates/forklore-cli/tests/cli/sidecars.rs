//! Tests of sidecars: `restore` lists and writes them, and never overwrites an existing file.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::sandbox::{Sandbox, copy_folder, snapshot};

const SESSION: &str = "1cb9e5f5-48b2-4dd6-9728-bcc3b0303f2b";

/// Creates a test environment, and imports the folders of Amplifier's sample sessions into it.
fn amplifier() -> Sandbox {
    let sandbox = Sandbox::new();
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/amplifier/projects");
    copy_folder(&samples, &sandbox.path().join("projects"));
    sandbox.ok(&["import", "projects"]);
    sandbox
}

fn folder(sandbox: &Sandbox) -> std::path::PathBuf {
    sandbox.path().join("projects/-home-dev-shop/sessions").join(SESSION)
}

#[test]
fn all_files_of_a_session_come_back() {
    let sandbox = amplifier();
    let listed = sandbox.ok(&["restore", SESSION, "--list"]);
    // Cut the column with the original paths, which differ in every run.
    let end = listed.find("READ FROM").unwrap();
    let listed: Vec<_> =
        listed.lines().map(|line| line[..end.min(line.len())].trim_end()).collect();
    let written = sandbox.ok(&["restore", SESSION, "--all", "-o", "out"]);
    snapshot!(format!("{}\n---\n{written}", listed.join("\n")));
    for name in ["transcript.jsonl", "events.jsonl", "metadata.json"] {
        let whole = fs::read(folder(&sandbox).join(name)).unwrap();
        assert_eq!(fs::read(sandbox.path().join("out").join(name)).unwrap(), whole, "{name}");
        let one = sandbox.ok(&["restore", SESSION, "--file", name]);
        assert_eq!(one.as_bytes(), whole, "{name}");
    }
}

#[test]
fn an_import_without_new_events_names_what_is_new() {
    let sandbox = amplifier();
    let line = |sandbox: &Sandbox| {
        let out = sandbox.ok(&["import", "projects"]);
        out.lines().find(|line| line.contains("already in the store")).unwrap_or(&out).to_owned()
    };
    assert!(line(&sandbox).starts_with("Nothing new in 3 files (0 B read); 3 sessions already"));
    let metadata = folder(&sandbox).join("metadata.json");
    let first = fs::read_to_string(&metadata).unwrap();
    fs::write(&metadata, first.replace("Discounts", "Prices")).unwrap();
    let size = fs::metadata(&metadata).unwrap().len();
    let changed = line(&sandbox);
    assert!(
        size < 1_000 && changed.starts_with(&format!("Imported 1 new file ({size} B) beside ")),
        "{changed}"
    );
}

#[test]
fn nothing_is_written_over_and_then_nothing_at_all() {
    let sandbox = amplifier();
    fs::create_dir(sandbox.path().join("out")).unwrap();
    sandbox.file("out/metadata.json", "mine");
    let (code, error) = sandbox.error(&["restore", SESSION, "--all", "-o", "out"]);
    assert_eq!((code, &error["kind"]), (4, &json!("already_exists")), "{error}");
    let left: Vec<_> = fs::read_dir(sandbox.path().join("out")).unwrap().collect();
    assert_eq!(left.len(), 1);
    assert_eq!(fs::read_to_string(sandbox.path().join("out/metadata.json")).unwrap(), "mine");
    sandbox.ok(&["restore", SESSION, "--all", "-o", "out", "--force"]);
    assert_ne!(fs::read_to_string(sandbox.path().join("out/metadata.json")).unwrap(), "mine");
}

#[test]
fn an_earlier_revision_is_selected_by_its_number() {
    let sandbox = amplifier();
    let metadata = folder(&sandbox).join("metadata.json");
    let first = fs::read_to_string(&metadata).unwrap();
    fs::write(&metadata, first.replace("Discounts", "Prices")).unwrap();
    let report = sandbox.json(&["import", "projects"]);
    let read = fs::metadata(&metadata).unwrap().len();
    assert_eq!(report["beside"], json!({"files": 6, "unchanged": 5, "bytes": read}));
    let ask = |revision| {
        sandbox.ok(&["restore", SESSION, "--file", "metadata.json", "--revision", revision])
    };
    assert_eq!((ask("0"), ask("1")), (first.clone(), first.replace("Discounts", "Prices")));
    let listed = sandbox.json(&["restore", SESSION, "--list"]);
    let listed: Vec<&Value> = listed["files"].as_array().unwrap().iter().collect();
    let shape: Vec<_> = listed
        .iter()
        .map(|file| (file["name"].as_str().unwrap(), file["revision"].as_u64(), &file["latest"]))
        .collect();
    let (yes, no) = (json!(true), json!(false));
    assert_eq!(
        shape,
        [
            ("transcript.jsonl", Some(0), &yes),
            ("events.jsonl", Some(0), &yes),
            ("metadata.json", Some(1), &yes),
            ("metadata.json", Some(0), &no),
        ]
    );
    let (code, error) = sandbox.error(&["restore", SESSION, "--file", "../metadata.json"]);
    assert_eq!((code, &error["kind"]), (2, &json!("not_found")));
}

#[test]
fn files_deleted_with_a_session_are_reported() {
    let sandbox = Sandbox::new();
    fs::create_dir_all(sandbox.path().join("w/s/tool-results")).unwrap();
    let record = |id: &str, parent: &str| {
        json!({
            "type": "user", "uuid": id, "parentUuid": parent, "sessionId": "s",
            "timestamp": "2026-01-01T00:00:00Z", "message": {"role": "user", "content": id},
        })
    };
    // A file with a rewind contains two sessions.
    let lines = [record("u1", ""), record("u2", "u1"), record("u3", "u1")];
    let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
    sandbox.file("w/s.jsonl", &lines);
    sandbox.file("w/s/tool-results/a.txt", "found");
    let report = sandbox.json(&["import", "w"]);
    let branch = report["sessions"][1]["session_id"].as_str().unwrap();
    sandbox.ok(&["delete", branch, "--erase"]);
    let (code, error) = sandbox.error(&["restore", "s", "--all", "-o", "out"]);
    assert_eq!((code, &error["kind"]), (4, &json!("conflict")), "{error}");
    let listed = sandbox.json(&["restore", "s", "--list"]);
    let gone: Vec<_> = listed["files"].as_array().unwrap().iter().map(|it| &it["gone"]).collect();
    assert_eq!(gone, [&json!(true), &json!(true)]);
}

#[test]
fn a_path_in_a_damaged_store_leads_nowhere_else() {
    let sandbox = amplifier();
    let store = rusqlite::Connection::open(sandbox.store()).unwrap();
    // A stored path that does not match its checksum is refused before a file is written there.
    let sql = "UPDATE source_path SET path = '/../../evil' WHERE path LIKE '%metadata%'";
    store.execute(sql, []).unwrap();
    drop(store);
    let ran = sandbox.run(&["restore", SESSION, "--all", "-o", "out"]);
    assert_eq!(ran.code, 6, "{ran:?}");
    assert!(!sandbox.path().join("evil").exists());
}
