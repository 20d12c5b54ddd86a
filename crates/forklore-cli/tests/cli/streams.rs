//! Tests of streamed answers: followed logs and what they count, closed pipes, and Ctrl-C.

use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, ChildStderr, Stdio};

use forklore_pgserver::Tenant;
use serde_json::Value;

use crate::sandbox::{Sandbox, WORKSPACE, ran};

fn follow(sandbox: &Sandbox, words: &[&str]) -> (Child, impl Iterator<Item = String>) {
    let words =
        [&["--workspace", WORKSPACE, "--json", "log", "plan-1", "--follow"], words].concat();
    let mut child = sandbox.command(&words).stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    (child, lines.map(Result::unwrap))
}

fn content(line: &str) -> Value {
    serde_json::from_str::<Value>(line).unwrap()["data"]["content"].clone()
}

#[test]
fn a_followed_log_goes_on_with_what_is_written() {
    let sandbox = Sandbox::with_a_plan();
    let (mut child, mut lines) = follow(&sandbox, &["--from", "5", "--to", "8"]);
    assert_eq!(content(&lines.next().unwrap()), "Then do it.");
    lines.next().unwrap();
    for text in ["one", "two", "three"] {
        sandbox.ok(&["append", "plan-1", "--text", text]);
    }
    assert_eq!([content(&lines.next().unwrap()), content(&lines.next().unwrap())], ["one", "two"]);
    // The command ends after the last requested event.
    assert_eq!(lines.next(), None);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_with_130() {
    let sandbox = Sandbox::with_a_plan();
    let (mut child, mut lines) = follow(&sandbox, &[]);
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
    let sandbox = Sandbox::with_a_plan();
    // Append more than a pipe's buffer can take, so that a write fails after the pipe is closed.
    let line = format!("{{\"data\":{{\"content\":\"{}\"}}}}\n", "x".repeat(1_000));
    assert_eq!(sandbox.append("plan-1", &line.repeat(500)).code, 0);
    sandbox.ok(&["fork", "plan-1", "--id", "plan-b", "--at", "turn:1"]);
    for words in [
        &["--json", "log", "plan-1"][..],
        &["replay", "plan-1"],
        &["log", "plan-1"],
        &["export", "plan-1", "--to", "plain"],
        &["inspect", "plan-1"],
        &["inspect", "plan-1", "--json"],
        &["diff", "plan-b", "plan-1", "--full"],
        &["diff", "plan-b", "plan-1", "--json"],
    ] {
        let words = [&["--workspace", WORKSPACE], words].concat();
        let mut command = sandbox.command(&words);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), &*stderr), (Some(0), ""), "{words:?}");
    }
}

#[test]
fn a_playback_says_the_same_as_a_replay() {
    let sandbox = Sandbox::with_a_plan();
    let replay = sandbox.ok(&["--json", "replay", "plan-1"]);
    assert_eq!(sandbox.ok(&["--json", "replay", "plan-1", "--speed", "1000"]), replay);
    assert_eq!(replay.lines().count(), 6);
}

#[test]
fn what_stands_before_damage_is_printed_before_the_error() {
    let sandbox = Sandbox::with_a_plan();
    sandbox.ok(&["fork", "plan-1", "--id", "plan-b", "--at", "turn:1"]);
    let damage = "UPDATE event SET payload = '{}' WHERE k = (SELECT max(k) FROM event
                  WHERE k < (SELECT max(k) FROM event))";
    let connection = rusqlite::Connection::open(sandbox.store()).unwrap();
    assert_eq!(connection.execute(damage, []).unwrap(), 1);
    drop(connection);
    for (words, lines) in [
        (&["log", "plan-1"][..], 6),
        (&["replay", "plan-1"], 5),
        (&["diff", "plan-b", "plan-1"], 1),
        (&["export", "plan-1", "--to", "plain"], 5),
    ] {
        // The answer ends where the damage begins, so it does not follow the contract.
        let ran = ran(sandbox.command(&[&["--json"], words].concat()));
        let (printed, output) = ran.out.trim_end().rsplit_once('\n').unwrap();
        let answer: Value = serde_json::from_str(output).unwrap();
        assert_eq!((ran.code, &answer["error"]["kind"]), (6, &Value::from("corrupt")), "{ran:?}");
        assert_eq!(printed.lines().count(), lines, "{words:?}: {printed}");
        let diff = printed.contains("\"only_b\":[{") && !printed.contains("]}");
        assert_eq!(diff, words[0] == "diff", "{printed}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_answer_that_cannot_be_written_is_an_error_whatever_the_verb() {
    let sandbox = Sandbox::with_a_plan();
    sandbox.ok(&["fork", "plan-1", "--id", "plan-b", "--label", "plan-b"]);
    sandbox.append("plan-b", "{\"data\":{\"content\":\"Plan B it is.\"}}\n");
    let refused = "error: writing the answer: No space left on device (os error 28)\n";
    for words in [
        &["new"][..],
        &["append", "plan-b", "--text", "more"],
        &["list"],
        &["show", "plan-1"],
        &["log", "plan-1"],
        &["replay", "plan-1"],
        &["inspect", "plan-1"],
        &["fork", "plan-1"],
        &["tree"],
        &["branches", "plan-1"],
        &["lineage", "plan-b"],
        &["diff", "plan-1", "plan-b"],
        &["bring", "plan-b", "--into", "plan-1"],
        &["label", "plan-b", "other"],
        &["export", "plan-1", "--to", "plain"],
        &["graph"],
        &["sparql", "SELECT * { ?s ?p ?o }"],
        &["search", "plan"],
        &["blame", "plan.md"],
        &["stats"],
        &["verify"],
        &["gc"],
        &["pack"],
        &["doctor"],
        &["import", "--discover"],
        &["completions", "bash"],
        &["man"],
        &["help", "fork"],
        &["--version"],
        // An error cannot be written to the full output either.
        &["--json", "show", "nobody"],
    ] {
        for json in [&[][..], &["--json"]] {
            let words = [&["--workspace", WORKSPACE], json, words].concat();
            let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
            let output = sandbox.command(&words).stdout(full).stderr(Stdio::piped()).output();
            let output = output.unwrap();
            let stderr = String::from_utf8(output.stderr).unwrap();
            assert_eq!((output.status.code(), &*stderr), (Some(1), refused), "{words:?}");
        }
    }
}

/// Returns the counts that a program serves at the address that it prints first.
fn metrics(errors: ChildStderr) -> impl Fn() -> String {
    let line = BufReader::new(errors).lines().next().unwrap().unwrap();
    let address = line.strip_prefix("metrics: http://").unwrap();
    let address = address.strip_suffix("/metrics").unwrap().to_owned();
    move || {
        let mut stream = TcpStream::connect(&address).unwrap();
        stream.write_all(b"GET /metrics HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, text) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200 OK\r\ncontent-type: text/plain"), "{head}");
        assert!(head.contains(&format!("content-length: {}\r\n", text.len())), "{head}");
        text.to_owned()
    }
}

fn value(text: &str, name: &str) -> f64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("no {name} in {text}")).parse().unwrap()
}

#[test]
fn a_followed_log_serves_what_it_counts() {
    let (sandbox, tenant) = (Sandbox::new(), Tenant::fresh().unwrap());
    let url = tenant.url();
    sandbox.ok(&["--store", &url, "new", "--id", "one"]);
    sandbox.ok(&["--store", &url, "append", "one", "--text", "first"]);
    let words = ["--json", "--store", &url, "log", "one", "--follow", "--metrics", "0"];
    let mut command = sandbox.command(&words);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let served = metrics(child.stderr.take().unwrap());
    lines.next().unwrap().unwrap();
    sandbox.ok(&["--store", &url, "append", "one", "--text", "second"]);
    lines.next().unwrap().unwrap();
    let text = served();
    assert!(text.starts_with("# HELP forklore_appends_total "), "{text}");
    let of = |name: &str| value(&text, name);
    assert_eq!((of("forklore_appends_total"), of("forklore_changes_total")), (0.0, 1.0));
    assert_eq!(of("forklore_feed_lag_seconds_count"), 1.0);
    assert_eq!(of("forklore_feed_lag_seconds_bucket{le=\"+Inf\"}"), 1.0);
    assert!(of("forklore_feed_lag_seconds_sum") > 0.0);
    assert!(of("forklore_read_seconds_count") >= 2.0);
    assert!(of("forklore_connections_open") >= 1.0);
    assert_eq!(of("forklore_unknown_outcomes_total"), 0.0);
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn metrics_need_an_address_and_a_command_that_lasts() {
    let sandbox = Sandbox::with_a_plan();
    for wrong in ["here", "here:there", "127.0.0.1:99999", "no.such.host.invalid:1", ""] {
        let (code, error) = sandbox.error(&["log", "plan-1", "--follow", "--metrics", wrong]);
        assert_eq!(code, 2, "{error}");
        assert!(error["message"].as_str().unwrap().contains("is no HOST:PORT"), "{error}");
        assert_eq!(error["next_actions"].as_array().unwrap().len(), 1, "{error}");
    }
    assert_eq!(sandbox.error(&["log", "plan-1", "--metrics", "0"]).0, 2);
    let occupied = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = occupied.local_addr().unwrap().to_string();
    let (_, error) = sandbox.error(&["log", "plan-1", "--follow", "--metrics", &port]);
    assert!(error["message"].as_str().unwrap().contains(&port), "{error}");
}

#[test]
fn a_watch_counts_what_it_imports() {
    let sandbox = Sandbox::new();
    let folder = sandbox.path().to_str().unwrap();
    let words = ["import", "--watch", folder, "--metrics", "127.0.0.1:0"];
    let mut command = sandbox.command(&words);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let served = metrics(child.stderr.take().unwrap());
    assert_eq!(value(&served(), "forklore_appends_total"), 0.0);
    child.kill().unwrap();
    child.wait().unwrap();
}
