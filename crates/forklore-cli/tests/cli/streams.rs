//! Answers that stream: followed logs, closed pipes, Ctrl-C.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use serde_json::Value;

use crate::place::{Place, WORKSPACE};

fn follow(place: &Place, words: &[&str]) -> (Child, impl Iterator<Item = String>) {
    let words =
        [&["--workspace", WORKSPACE, "--json", "log", "plan-1", "--follow"], words].concat();
    let mut child = place.command(&words).stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    (child, lines.map(Result::unwrap))
}

fn content(line: &str) -> Value {
    serde_json::from_str::<Value>(line).unwrap()["data"]["content"].clone()
}

#[test]
fn a_followed_log_goes_on_with_what_is_written() {
    let place = Place::with_a_plan();
    let (mut child, mut lines) = follow(&place, &["--from", "5", "--to", "8"]);
    assert_eq!(content(&lines.next().unwrap()), "Then do it.");
    lines.next().unwrap();
    for text in ["one", "two", "three"] {
        place.ok(&["append", "plan-1", "--text", text]);
    }
    assert_eq!([content(&lines.next().unwrap()), content(&lines.next().unwrap())], ["one", "two"]);
    // It has printed the last one asked for.
    assert_eq!(lines.next(), None);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_with_130() {
    let place = Place::with_a_plan();
    let (mut child, mut lines) = follow(&place, &[]);
    lines.next().unwrap();
    let killed = std::process::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(killed.success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let place = Place::with_a_plan();
    // More than a pipe holds, so that writing meets the closed end.
    let line = format!("{{\"data\":{{\"content\":\"{}\"}}}}\n", "x".repeat(1_000));
    assert_eq!(place.append("plan-1", &line.repeat(500)).code, 0);
    for words in [
        &["--json", "log", "plan-1"][..],
        &["replay", "plan-1"],
        &["log", "plan-1"],
        &["export", "plan-1", "--to", "plain"],
        &["inspect", "plan-1", "--json"],
    ] {
        let words = [&["--workspace", WORKSPACE], words].concat();
        let mut command = place.command(&words);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), &*told), (Some(0), ""), "{words:?}");
    }
}

#[test]
fn a_playback_says_the_same_as_a_replay() {
    let place = Place::with_a_plan();
    let replay = place.ok(&["--json", "replay", "plan-1"]);
    assert_eq!(place.ok(&["--json", "replay", "plan-1", "--speed", "1000"]), replay);
    assert_eq!(replay.lines().count(), 6);
}
