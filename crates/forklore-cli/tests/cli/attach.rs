//! Tests of `attach`: files are attached to a session, listed, and written to files again.

use std::fs;

use crate::sandbox::{Sandbox, snapshot};

/// Runs a command and returns all of its output, including hints and errors.
fn shown(sandbox: &Sandbox, words: &[&str]) -> String {
    let ran = sandbox.run(words);
    format!("$ forklore {}\n{}{}", words.join(" "), ran.out, ran.err)
}

#[test]
fn a_file_is_attached_listed_and_given_back() {
    let sandbox = Sandbox::with_a_plan();
    sandbox.file("shot.png", "no real image");
    let attach = ["attach", "plan-1", "shot.png", "--text", "what I see"];
    let screens = [
        shown(&sandbox, &["attach", "plan-1"]),
        shown(&sandbox, &attach),
        shown(&sandbox, &["attach", "plan-1", "shot.png", "--name", "again", "--type", "a/b"]),
        shown(&sandbox, &["fork", "-q", "plan-1", "--id", "plan-b"]),
        shown(&sandbox, &["attach", "plan-b"]),
        shown(&sandbox, &["attach", "plan-b", "--get", "shot.png", "-o", "out.png"]),
        shown(&sandbox, &["attach", "plan-b", "--get", "again"]),
        shown(&sandbox, &["inspect", "plan-b"]),
    ];
    assert_eq!(fs::read_to_string(sandbox.path().join("out.png")).unwrap(), "no real image");
    snapshot!(screens.join("\n"));
}

#[test]
fn answers_for_scripts() {
    let sandbox = Sandbox::with_a_plan();
    let piped = sandbox.feed(&["--json", "attach", "plan-1", "-"], "from a pipe");
    assert_eq!(piped.code, 0, "{piped:?}");
    sandbox.file("note.txt", "");
    let answers = [
        sandbox.json(&["attach", "plan-1", "note.txt"]),
        sandbox.json(&["attach", "plan-1"]),
        sandbox.json(&["attach", "plan-1", "--get", "note.txt", "-o", "empty"]),
    ];
    let answers: Vec<_> = answers.iter().map(|answer| format!("{answer:#}")).collect();
    snapshot!(format!("{}{}", piped.out, answers.join("\n")));
    let piped = sandbox.ok(&["attach", "plan-1", "--get", "sha256:4679"]);
    assert_eq!(piped, "from a pipe");
}

#[test]
fn what_cannot_be_attached_is_refused() {
    let sandbox = Sandbox::with_a_plan();
    sandbox.file("there", "x");
    fs::create_dir(sandbox.path().join("folder")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(sandbox.path().join("pipe")).status();
    assert!(made.unwrap().success());
    let long = fs::File::create(sandbox.path().join("long")).unwrap();
    long.set_len((4 << 30) + 1).unwrap();
    std::os::unix::fs::symlink("nowhere", sandbox.path().join("link")).unwrap();
    sandbox.ok(&["attach", "plan-1", "there", "--name", "one"]);
    sandbox.file("there", "y");
    sandbox.ok(&["attach", "plan-1", "there", "--name", "one"]);
    let mut messages = Vec::new();
    for words in [
        &["attach", "plan-1", "folder"][..],
        &["attach", "plan-1", "pipe"],
        &["attach", "plan-1", "long"],
        &["attach", "plan-1", "link"],
        &["attach", "plan-1", "nothing"],
        &["attach", "plan-1", "there", "--type", "png"],
        &["attach", "plan-1", "there", "--name", ""],
        &["attach", "plan-1", "there", "--get", "one"],
        &["attach", "plan-1", "--name", "one"],
        &["attach", "nobody", "there"],
        &["attach", "plan-1", "--get", "one"],
        &["attach", "plan-1", "--get", "two"],
        &["attach", "plan-1", "--get", "a1fc", "-o", "there"],
    ] {
        let (code, error) = sandbox.error(words);
        messages.push(format!("$ forklore {}\n{code} {error:#}", words.join(" ")));
    }
    assert_eq!(fs::read_to_string(sandbox.path().join("there")).unwrap(), "y");
    assert_eq!(sandbox.json(&["show", "plan-1"])["session"]["head_seq"], 8);
    snapshot!(messages.join("\n"));
}

#[test]
fn a_missing_attachment_is_reported_and_fails_nothing() {
    let sandbox = Sandbox::with_a_plan();
    sandbox.file("shot.png", "no real image");
    sandbox.ok(&["attach", "plan-1", "shot.png"]);
    fs::remove_dir_all(sandbox.path().join("store.db-attachments")).unwrap();
    let screens = [
        shown(&sandbox, &["attach", "plan-1"]),
        shown(&sandbox, &["replay", "plan-1", "--json"]),
        shown(&sandbox, &["fork", "-q", "plan-1", "--id", "plan-b"]),
        shown(&sandbox, &["verify"]),
        shown(&sandbox, &["attach", "plan-b", "--get", "shot.png", "-o", "out.png"]),
    ];
    assert!(!sandbox.path().join("out.png").exists());
    snapshot!(screens.join("\n"));
}

#[test]
fn hostile_names_are_escaped() {
    let sandbox = Sandbox::with_a_plan();
    sandbox.file("plain", "bytes");
    let hostile = "a\u{1b}]0;owned\u{7}\u{202e}gnp\rb.png";
    let words = ["attach", "plan-1", "plain", "--name", hostile];
    for words in [
        &words[..],
        &["attach", "plan-1"],
        &["attach", "plan-1", "--get", hostile],
        &["attach", "plan-1", "--get", "\u{1b}[31m"],
        &["replay", "plan-1"],
        &["verify"],
    ] {
        let ran = sandbox.run(words);
        let output = format!("{}{}", ran.out, ran.err);
        let raw = output.chars().find(|c| matches!(c, '\u{1b}' | '\u{7}' | '\r' | '\u{202e}'));
        assert_eq!(raw, None, "{words:?}: {output}");
    }
    fs::remove_dir_all(sandbox.path().join("store.db-attachments")).unwrap();
    let problem = sandbox.run(&["verify"]);
    assert_eq!((problem.code, problem.out.contains('\u{1b}')), (6, false), "{problem:?}");
}

#[test]
fn attachments_are_their_owners_alone() {
    use std::os::unix::fs::MetadataExt;

    let sandbox = Sandbox::with_a_plan();
    sandbox.file("plain", "bytes");
    sandbox.ok(&["attach", "plan-1", "plain"]);
    let mut folders = vec![sandbox.path().join("store.db-attachments")];
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        assert_eq!(fs::metadata(&folder).unwrap().mode() & 0o777, 0o700, "{folder:?}");
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600, "{path:?}");
                files += 1;
            }
        }
    }
    assert_eq!(files, 1);
}
