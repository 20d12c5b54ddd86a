//! Tests of dry runs on a session file: the answer is that of the real run, and nothing is imported.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::sandbox::{Sandbox, ran};

/// Returns the content of all files in a folder and below it, by path.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
            continue;
        }
        let bytes = std::fs::read(&path).unwrap();
        // Every reader of an SQLite store makes an empty WAL, and rebuilds its index (`-shm`).
        let name = path.to_string_lossy();
        if !(name.ends_with("-shm") || name.ends_with("-wal") && bytes.is_empty()) {
            found.insert(path, bytes);
        }
    }
    found
}

fn sample(sandbox: &Sandbox) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/pi/demo.jsonl");
    let text = std::fs::read_to_string(file).unwrap();
    sandbox.file("it's one.jsonl", &text).to_str().unwrap().to_owned()
}

/// Runs a command that must change no file.
fn unchanged(sandbox: &Sandbox, words: &[&str]) -> Value {
    let before = files(sandbox.path());
    let answer = sandbox.json(words);
    assert_eq!(files(sandbox.path()), before, "{words:?}");
    answer
}

/// Removes the fields that only a dry run, or only a real run, has.
fn plain(mut answer: Value) -> Value {
    for field in ["recorded", "dry_run", "apply"] {
        answer.as_object_mut().unwrap().remove(field);
    }
    answer
}

/// Runs a command of the program in a shell, and returns its JSON answer.
fn typed(sandbox: &Sandbox, command: &str) -> Value {
    let program = sandbox.command(&[]);
    let mut shell = Command::new("sh");
    shell.args(["-c", &command.replacen("forklore", "\"$0\" --json", 1)]);
    shell.arg(program.get_program()).env_clear().current_dir(sandbox.path());
    let given = program.get_envs().filter_map(|(name, value)| Some((name, value?)));
    let ran = ran(given.fold(shell, |mut shell, (name, value)| {
        shell.env(name, value);
        shell
    }));
    serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{command}: {ran:?}"))
}

#[test]
fn a_fork_of_a_file_is_planned_without_an_import() {
    let sandbox = Sandbox::new();
    let file = sample(&sandbox);
    let words = ["fork", &file, "--at", "turn:2", "--id", "mine"];
    let dry = [&words[..], &["--dry-run"]].concat();
    // Before there is a store, and in a store with other sessions.
    let first = unchanged(&sandbox, &dry);
    assert!(!sandbox.store().exists());
    sandbox.ok(&["new", "--id", "other"]);
    let planned = unchanged(&sandbox, &dry);
    assert_eq!(planned, first);
    let apply = planned["apply"].as_str().unwrap();
    let quoted = file.replace('\'', r"'\''");
    let begin =
        format!("forklore fork '{quoted}' --workspace /demo --at seq:11 --id mine --label ");
    assert!(apply.starts_with(&begin), "{apply}");
    // The command makes exactly what was planned.
    let made = typed(&sandbox, apply);
    assert_eq!((&made["recorded"], &made["dry_run"]), (&json!(true), &json!(false)));
    assert_eq!(plain(made), plain(planned));
}

#[test]
fn a_file_that_grew_is_planned_as_it_is_now() {
    let sandbox = Sandbox::new();
    let file = sample(&sandbox);
    let whole = std::fs::read_to_string(&file).unwrap();
    let lines: Vec<_> = whole.split_inclusive('\n').collect();
    std::fs::write(&file, lines[..lines.len() / 2].concat()).unwrap();
    sandbox.ok(&["import", &file]);
    std::fs::write(&file, &whole).unwrap();
    let words = ["fork", &file, "--id", "mine", "--label", "plan-b"];
    let planned = unchanged(&sandbox, &[&words[..], &["--dry-run"]].concat());
    assert_eq!(plain(sandbox.json(&words)), plain(planned));
}

#[test]
fn a_file_for_another_agent_is_planned_without_an_import() {
    let sandbox = Sandbox::new();
    let file = sample(&sandbox);
    let home = sandbox.path().join("claude");
    let folder = sandbox.path().join("work");
    std::fs::create_dir(&folder).unwrap();
    let (home, folder) = (home.to_str().unwrap(), folder.to_str().unwrap());
    let words = [
        "resume-in",
        "claude",
        &file,
        "--at",
        "turn:2",
        "--home",
        home,
        "--into-workspace",
        folder,
    ];
    let planned = unchanged(&sandbox, &[&words[..], &["--dry-run"]].concat());
    assert!(!sandbox.store().exists());
    let written = sandbox.json(&words);
    for field in ["cwd", "events", "lossy"] {
        assert_eq!(planned[field], written[field], "{field}");
    }
    assert!(written["events"].as_u64().unwrap() > 0);
}
