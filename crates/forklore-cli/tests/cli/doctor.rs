//! Tests of `doctor` with sound, damaged and missing stores. `doctor` changes no file.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde_json::Value;

use crate::sandbox::{FILTERS, Sandbox, ran};

/// Patterns of output that depends on the machine: the checks of the disk, and the sums that
/// include these checks.
const MACHINE: [(&str, &str); 5] = [
    (r"(?m)^\w+ +file system .*\n( +try: .*\n)?", "[file system]\n"),
    (r"(?m)^\w+ +space .*\n( +try: .*\n)?", "[space]\n"),
    (r"(?m)^(All is well\.|\d+ warnings?)$", "[sum]"),
    (r"SQLite [\d.]+", "SQLite [version]"),
    (r"\d+\.\d [kM]B", "[size]"),
];

macro_rules! snapshot {
    ($text:expr) => {
        insta::with_settings!({
            omit_expression => true,
            filters => [&MACHINE, FILTERS].concat(),
        }, { insta::assert_snapshot!($text) })
    };
}

/// The files below a folder, by path. Each has its content, its permissions, and its modification
/// time.
type Files = BTreeMap<PathBuf, (Vec<u8>, u32, SystemTime)>;

fn files(folder: &Path) -> Files {
    let mut found = Files::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let about = fs::metadata(&path).unwrap();
        if about.is_dir() {
            found.extend(files(&path));
        } else {
            // Ignore the content of the `-shm` file: SQLite's shared index of the WAL, which SQLite
            // can rebuild at any time.
            let is_index = path.to_string_lossy().ends_with("-shm");
            let bytes = if is_index { Vec::new() } else { fs::read(&path).unwrap() };
            let written = if is_index { SystemTime::UNIX_EPOCH } else { about.modified().unwrap() };
            found.insert(path, (bytes, about.permissions().mode(), written));
        }
    }
    found
}

/// Runs `doctor`, checks that it changed no file, and returns its exit code and output.
fn doctor(sandbox: &Sandbox, words: &[&str]) -> (i32, String) {
    let before = files(sandbox.path());
    let ran = sandbox.run(&[&["doctor"], words].concat());
    assert_eq!(files(sandbox.path()), before, "it looks and changes nothing");
    (ran.code, ran.out + &ran.err)
}

/// Runs `doctor --json`. Returns the exit code, `ok`, and the checks by their names.
fn checks(sandbox: &Sandbox, words: &[&str]) -> (i32, bool, BTreeMap<String, Value>) {
    let (code, out) = doctor(sandbox, &[words, &["--json"]].concat());
    let answer: Value = serde_json::from_str(&out).unwrap();
    let checks = answer["checks"].as_array().unwrap().iter();
    let named = checks.map(|check| (check["name"].as_str().unwrap().to_owned(), check.clone()));
    (code, answer["ok"].as_bool().unwrap(), named.collect())
}

/// Runs `doctor --json`. Returns the exit code, `ok`, and the status and the error kind of the
/// check `name`.
fn verdict(sandbox: &Sandbox, name: &str) -> (i32, bool, String, String) {
    let (code, ok, checks) = checks(sandbox, &[]);
    let text = |field: &str| checks[name][field].as_str().unwrap_or_default().to_owned();
    (code, ok, text("status"), text("kind"))
}

fn problem(code: i32, kind: &str) -> (i32, bool, String, String) {
    (code, false, "problem".into(), kind.into())
}

#[test]
fn a_sound_store_is_well() {
    let sandbox = Sandbox::with_a_plan();
    let (code, out) = doctor(&sandbox, &[]);
    assert_eq!(code, 0);
    snapshot!(out);
}

#[test]
fn where_there_is_no_store_none_is_made() {
    let sandbox = Sandbox::new();
    let (code, out) = doctor(&sandbox, &[]);
    assert_eq!(code, 0);
    snapshot!(out);
    assert!(!sandbox.store().exists());
}

#[test]
fn scripts_get_every_check() {
    let sandbox = Sandbox::with_a_plan();
    let (code, ok, checks) = checks(&sandbox, &[]);
    assert_eq!((code, ok), (0, true));
    let names: Vec<_> = checks.keys().map(String::as_str).collect();
    let expected = [
        "config",
        "content",
        "file_system",
        "folder",
        "format",
        "permissions",
        "program",
        "sessions",
        "space",
        "store",
        "wal",
    ];
    assert_eq!(names, expected);
    let sessions = serde_json::json!({"name": "sessions", "status": "ok", "message": "1"});
    assert_eq!(checks["sessions"], sessions);
}

#[test]
fn damage_is_six() {
    let sandbox = Sandbox::with_a_plan();
    let mut bytes = fs::read(sandbox.store()).unwrap();
    let len = bytes.len();
    bytes[len / 2..len / 2 + 8_192].fill(0xaa);
    fs::write(sandbox.store(), bytes).unwrap();
    assert_eq!(verdict(&sandbox, "content"), problem(6, "corrupt"));
}

#[test]
fn a_header_that_cannot_be_read_is_six() {
    let sandbox = Sandbox::with_a_plan();
    let conn = rusqlite::Connection::open(sandbox.store()).unwrap();
    conn.execute("UPDATE session SET title = 'another'", []).unwrap();
    conn.close().unwrap();
    assert_eq!(verdict(&sandbox, "sessions"), problem(6, "corrupt"));
}

#[test]
fn a_file_that_is_no_store_is_five() {
    let sandbox = Sandbox::new();
    fs::write(sandbox.store(), "notes").unwrap();
    fs::set_permissions(sandbox.store(), fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(verdict(&sandbox, "content"), problem(5, "unsupported"));
}

#[test]
fn a_store_of_a_newer_program_is_five() {
    let sandbox = Sandbox::with_a_plan();
    let conn = rusqlite::Connection::open(sandbox.store()).unwrap();
    conn.pragma_update(None, "user_version", 99).unwrap();
    conn.close().unwrap();
    assert_eq!(verdict(&sandbox, "content"), problem(5, "unsupported"));
    assert!(doctor(&sandbox, &[]).1.contains("use a newer forklore"));
}

#[test]
fn a_store_that_everybody_may_write_is_three() {
    let sandbox = Sandbox::with_a_plan();
    fs::set_permissions(sandbox.store(), fs::Permissions::from_mode(0o666)).unwrap();
    assert_eq!(verdict(&sandbox, "permissions"), problem(3, "permission_denied"));
}

#[test]
fn a_store_that_others_may_read_is_a_warning() {
    let sandbox = Sandbox::with_a_plan();
    fs::set_permissions(sandbox.store(), fs::Permissions::from_mode(0o640)).unwrap();
    let (code, ok, checks) = checks(&sandbox, &[]);
    let check = &checks["permissions"];
    assert_eq!((code, ok, check["status"].as_str()), (0, true, Some("warning")));
    let hint = format!("chmod go-rwx {}", sandbox.store().display());
    assert_eq!(check["hint"].as_str(), Some(&*hint));
}

#[test]
fn a_url_that_names_no_store_is_two() {
    let sandbox = Sandbox::new();
    let (code, out) = doctor(&sandbox, &["--store", "mysql://somewhere"]);
    assert_eq!(code, 2);
    snapshot!(out);
}

/// A killed process leaves its changes in the WAL, with or without the WAL's index (the `-shm`
/// file).
#[test]
fn a_wal_that_was_left_is_named_and_stays() {
    let sandbox = Sandbox::with_a_plan();
    let conn = rusqlite::Connection::open(sandbox.store()).unwrap();
    conn.execute("UPDATE upkeep SET rowid = rowid", []).unwrap();
    let (code, ok, checks) = checks(&sandbox, &[]);
    assert_eq!((code, ok, checks["sessions"]["message"].as_str()), (0, true, Some("1")));
    assert!(checks["wal"]["message"].as_str().unwrap().contains("wait in the WAL"));

    let copy = Sandbox::new();
    for end in ["", "-wal"] {
        let from = format!("{}{end}", sandbox.store().display());
        let to = format!("{}{end}", copy.store().display());
        fs::copy(from, to).unwrap();
    }
    drop(conn);
    let (code, _, status, _) = verdict(&copy, "content");
    assert_eq!((code, &*status), (0, "warning"));
}

#[test]
fn the_sessions_of_agents_are_found() {
    let sandbox = Sandbox::new();
    let projects = sandbox.path().join("home/.claude/projects/-work-demo");
    fs::create_dir_all(&projects).unwrap();
    for name in ["a.jsonl", "b.jsonl", "notes.txt"] {
        fs::write(projects.join(name), "{}\n").unwrap();
    }
    let (_, out) = doctor(&sandbox, &[]);
    assert!(out.contains("Claude Code: 2 session files in ~/.claude/projects"), "{out}");
    assert!(out.contains("try: forklore import ~/.claude/projects"), "{out}");
    assert!(!out.contains("Pi:"), "{out}");
}

#[test]
fn a_torn_tail_of_a_files_store_is_a_warning() {
    let sandbox = Sandbox::new();
    let store = sandbox.path().join("sessions");
    let url = format!("files:{}", store.display());
    let command = |words: &[&str]| {
        let mut command = sandbox.command(&[&["--workspace", "/demo"], words].concat());
        command.env("FORKLORE_STORE", &url);
        ran(command)
    };
    assert_eq!(command(&["new", "--id", "plan-1"]).code, 0);
    let (code, out) = doctor(&sandbox, &["--store", &url]);
    assert_eq!(code, 0);
    snapshot!(out);

    let lines: Vec<_> = files(&store.join("workspaces")).into_keys().collect();
    let [line] = lines.as_slice() else { panic!("one session: {lines:?}") };
    let torn = [fs::read(line).unwrap(), b"{\"seq\":".to_vec()].concat();
    fs::write(line, torn).unwrap();
    let (code, ok, checks) = checks(&sandbox, &["--store", &url]);
    assert_eq!((code, ok, checks["tails"]["status"].as_str()), (0, true, Some("warning")));
}
