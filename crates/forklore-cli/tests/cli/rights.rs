//! Tests of files that the user who runs the program may not read or write.
#![cfg(unix)]

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

/// The id of a user without permissions.
const NOBODY: u32 = 65_534;

fn is_root(sandbox: &Sandbox) -> bool {
    fs::metadata(sandbox.path()).unwrap().uid() == 0
}

/// Makes the user `NOBODY` the owner of a path and of everything below it.
fn give_away(path: &Path) {
    let Ok(about) = path.symlink_metadata() else { return };
    chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
    if about.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            give_away(&entry.unwrap().path());
        }
    }
}

/// Runs the program as a user other than root, because file permissions do not apply to root.
fn as_nobody(sandbox: &Sandbox, words: &[&str]) -> Output {
    let as_user = |mut command: Command| {
        if is_root(sandbox) || fs::metadata(sandbox.path()).unwrap().uid() == NOBODY {
            command.uid(NOBODY).gid(NOBODY);
        }
        command.output()
    };
    let command = sandbox.command(words);
    let (program, words) = (command.get_program().to_owned(), words);
    as_user(command).unwrap_or_else(|_| {
        // The user may have no access to the folder of the program, so run a copy.
        let copy = sandbox.path().join("forklore");
        fs::copy(program, &copy).unwrap();
        fs::set_permissions(&copy, Permissions::from_mode(0o755)).unwrap();
        let mut command = Command::new(copy);
        let own = sandbox.command(words);
        command.args(words).env_clear().current_dir(sandbox.path());
        command.envs(own.get_envs().filter_map(|(name, value)| Some((name, value?))));
        as_user(command).unwrap()
    })
}

fn session(id: &str) -> String {
    format!(
        "{{\"type\":\"session\",\"version\":3,\"id\":\"{id}\",\
         \"timestamp\":\"2026-03-01T10:00:00.000Z\",\"cwd\":\"/work\"}}\n\
         {{\"type\":\"message\",\"id\":\"m1\",\"parentId\":null,\
         \"message\":{{\"role\":\"user\",\"content\":\"hello\"}}}}\n"
    )
}

#[test]
fn a_file_that_may_not_be_read_is_named_and_the_others_are_imported() {
    let sandbox = Sandbox::new();
    let closed = sandbox.path().join("sessions/closed");
    fs::create_dir_all(&closed).unwrap();
    for name in ["bad", "good", "late", "closed/inner"] {
        sandbox.file(&format!("sessions/{name}.jsonl"), &session(&name.replace('/', "-")));
    }
    let mode = |name: &str, mode| {
        let path = sandbox.path().join(name);
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    };
    let root = is_root(&sandbox);
    if root {
        give_away(sandbox.path());
    }
    mode("sessions/bad.jsonl", 0o200);
    mode("sessions/closed", 0o300);
    let output = as_nobody(&sandbox, &["--workspace", "/demo", "--json", "import", "sessions"]);
    mode("sessions/closed", 0o700);

    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let output: Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut ids: Vec<_> = output["sessions"].as_array().unwrap().iter().collect();
    ids.sort_by_key(|session| session["session_id"].to_string());
    let ids: Vec<_> = ids.into_iter().map(|session| &session["session_id"]).collect();
    assert_eq!(ids, [&json!("good"), &json!("late")]);
    let mut problems: Vec<_> = output["problems"].as_array().unwrap().iter().collect();
    problems.sort_by_key(|problem| problem["path"].to_string());
    let folder = sandbox.path().canonicalize().unwrap().join("sessions");
    let expected = ["bad.jsonl", "closed"].map(|name| {
        let path = folder.join(name).display().to_string();
        (json!(path), json!("unreadable"), true)
    });
    let found = problems.into_iter().map(|problem| {
        let says_why = problem["message"].as_str().unwrap().contains("ermission denied");
        (problem["path"].clone(), problem["kind"].clone(), says_why)
    });
    assert_eq!(found.collect::<Vec<_>>(), expected);
}
