//! Tests of `mcp` with a client that speaks its protocol over pipes, and of `install mcp`.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::sandbox::{Sandbox, WORKSPACE};

/// A client of a running `forklore mcp`.
struct Client {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    requests: u64,
}

impl Client {
    /// Starts the server with these options, and says hello to it.
    fn of(sandbox: &Sandbox, options: &[&str]) -> Self {
        let mut command = sandbox.command(&[&["--workspace", WORKSPACE, "mcp"], options].concat());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut client = Self { child, input, output, requests: 0 };
        let hello = json!({
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" },
        });
        let welcome = client.request("initialize", &hello);
        assert_eq!(welcome["protocolVersion"], "2025-11-25");
        assert!(welcome["instructions"].as_str().unwrap().contains("untrusted_"));
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        client
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input, "{message}").unwrap();
    }

    fn request(&mut self, method: &str, params: &Value) -> Value {
        self.requests += 1;
        let id = self.requests;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        let mut answer = self.line();
        assert_eq!(answer["id"], id, "{answer}");
        answer["result"].take()
    }

    fn line(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    /// Calls a tool that must succeed.
    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let params = json!({ "name": tool, "arguments": arguments });
        let mut result = self.request("tools/call", &params);
        assert_ne!(result["isError"], true, "{tool}: {result}");
        result["structuredContent"].take()
    }

    /// Closes the server's input and returns its exit code.
    fn close(self) -> Option<i32> {
        let Self { mut child, input, output, .. } = self;
        drop((input, output));
        child.wait().unwrap().code()
    }
}

#[test]
fn an_agent_finds_reads_and_forks_an_earlier_session() {
    let sandbox = Sandbox::with_a_plan();
    let mut client = Client::of(&sandbox, &["--allow", "fork,label"]);
    let tools = client.request("tools/list", &json!({}));
    let names: Vec<_> =
        tools["tools"].as_array().unwrap().iter().map(|tool| tool["name"].clone()).collect();
    let written: Vec<_> = names.iter().skip(9).collect();
    assert_eq!(written, ["fork", "label"]);
    let listed = client.call("list_sessions", &json!({}));
    assert_eq!(listed["sessions"][0]["session_id"], "plan-1");
    let messages = client.call("messages", &json!({ "session": "last" }));
    assert_eq!(messages["session_id"], "plan-1");
    let forked = client.call("fork", &json!({ "session": "last", "at": "turn:1" }));
    let command = forked["resume_command"].as_str().unwrap();
    assert!(command.starts_with("forklore --store sqlite:"), "{command}");
    // Another process sees the fork, and the server sees what another process writes.
    let fork = forked["session_id"].as_str().unwrap();
    sandbox.ok(&["append", fork, "--text", "a zebra crossing"]);
    let found = client.call("search", &json!({ "query": "zebra" }));
    assert_eq!(found["hits"][0]["session_id"], fork);
    let labelled = client.call("label", &json!({ "session": fork, "label": "zebra" }));
    assert_eq!(labelled["session"]["label"], "zebra");
    let operations = sandbox.json(&["op", "log"]);
    assert_eq!(operations["operations"][0]["program"], "forklore mcp", "{operations}");
    assert_eq!(client.close(), Some(0));
}

#[test]
fn a_server_may_be_older_than_the_first_session() {
    let sandbox = Sandbox::with_default_store();
    let mut client = Client::of(&sandbox, &[]);
    assert_eq!(client.call("list_sessions", &json!({}))["sessions"], json!([]));
    sandbox.ok(&["new", "--id", "first-1"]);
    let listed = client.call("list_sessions", &json!({}));
    assert_eq!(listed["sessions"][0]["session_id"], "first-1");
    let command =
        client.call("resume_command", &json!({ "session": "first-1", "agent": "claude" }));
    assert_eq!(command["in_agent"], "forklore resume-in claude first-1");
    assert_eq!(client.close(), Some(0));
}

#[test]
fn noise_on_the_input_is_answered_or_ignored_and_ends_nothing() {
    let sandbox = Sandbox::with_a_plan();
    let mut client = Client::of(&sandbox, &[]);
    let (deep, long) =
        (format!("{}{}", "[".repeat(100_000), "]".repeat(100_000)), "x".repeat(5 << 20));
    let call = |arguments: &str| {
        let params = format!(r#"{{"name":"search","arguments":{arguments}}}"#);
        format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{params}}}"#)
            .into_bytes()
    };
    for noise in [
        b"{".to_vec(),
        b"[]".to_vec(),
        b"null".to_vec(),
        b"\x1b[2J".to_vec(),
        b"\xff\xfe\x00".to_vec(),
        b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"\xff\"}".to_vec(),
        br#"{"jsonrpc":"2.0","id":7,"method":"no/such"}"#.to_vec(),
        br#"{"jsonrpc":"2.0","id":7,"result":{}}"#.to_vec(),
        br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}"#
            .to_vec(),
        br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}"#
            .to_vec(),
        br#"[{"jsonrpc":"2.0","id":7,"method":"ping"}]"#.to_vec(),
        deep.clone().into_bytes(),
        call(&format!(r#"{{"query":{deep}}}"#)),
        call(&format!(r#"{{"query":"{long}"}}"#)),
        call(r#"["query"]"#),
    ] {
        client.input.write_all(&noise).unwrap();
        client.input.write_all(b"\n").unwrap();
    }
    // Answers to the noise may come first.
    client.send(&json!({ "jsonrpc": "2.0", "id": "last", "method": "ping" }));
    while client.line()["id"] != "last" {}
    assert_eq!(client.close(), Some(0));
}

#[test]
fn a_client_that_goes_away_in_a_call_leaves_whole_forks() {
    let sandbox = Sandbox::with_a_plan();
    let mut client = Client::of(&sandbox, &["--allow", "fork"]);
    for id in 100..120 {
        let arguments = json!({ "session": "plan-1", "at": "turn:1" });
        let params = json!({ "name": "fork", "arguments": arguments });
        client
            .send(&json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }));
    }
    // Gone before the answers.
    assert_eq!(client.close(), Some(0));
    let verified = sandbox.json(&["verify"]);
    assert_eq!(verified["problems"], json!([]), "{verified}");
    let listed = sandbox.json(&["list"]);
    for session in listed["sessions"].as_array().unwrap() {
        let turns = if session["id"] == "plan-1" { 2 } else { 1 };
        assert_eq!(session["turns"], turns, "{session}");
    }
}

#[test]
fn a_killed_client_leaves_no_server() {
    let sandbox = Sandbox::with_a_plan();
    let server = sandbox.command(&[]);
    // The client is a program that writes nothing into the server's input and tells its number.
    let script = "exec 3>&1; sh -c 'echo $$ >&3; exec sleep 100000' | \"$0\" mcp; echo ended $?";
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", script]).arg(server.get_program()).current_dir(sandbox.path());
    shell.envs(server.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let mut shell = shell.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(shell.stdout.take().unwrap()).lines();
    let client = lines.next().unwrap().unwrap();
    let killed = std::process::Command::new("kill").args(["-9", &client]).status().unwrap();
    assert!(killed.success());
    assert_eq!(lines.next().unwrap().unwrap(), "ended 0");
    assert!(shell.wait().unwrap().success());
}

#[test]
fn it_has_no_other_json_and_knows_what_can_be_allowed() {
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.error(&["mcp"]).1["kind"], "invalid_args");
    assert_eq!(sandbox.error(&["mcp", "--allow", "delete"]).0, 2);
    assert!(!sandbox.store().exists());
}

#[test]
fn an_entry_is_added_once_and_nothing_else_changes() {
    let sandbox = Sandbox::new();
    let home = sandbox.path().join("home");
    for (agent, file) in [
        ("claude", ".claude.json"),
        ("codex", ".codex/config.toml"),
        ("gemini", ".gemini/settings.json"),
        ("opencode", ".config/opencode/opencode.json"),
    ] {
        let file = home.join(file);
        let printed = sandbox.json(&["install", "mcp", agent, "--print"]);
        assert!(!file.exists() && printed["written"] == false, "{agent}");
        let (code, refused) = sandbox.error(&["install", "mcp", agent]);
        assert_eq!((code, &refused["kind"]), (2, &json!("invalid_args")), "{agent}");
        assert!(!file.exists(), "{agent}");

        let added = sandbox.json(&["install", "mcp", agent, "--yes"]);
        assert_eq!(added["path"], file.to_str().unwrap());
        assert_eq!((&added["written"], &added["existing"]), (&json!(true), &json!(false)));
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(text.contains("forklore") && text.contains("sqlite:"), "{agent}: {text}");
        let again = sandbox.json(&["install", "mcp", agent, "--yes"]);
        assert_eq!((&again["written"], &again["existing"]), (&json!(false), &json!(true)));
        assert_eq!(std::fs::read_to_string(&file).unwrap(), text, "{agent}");

        sandbox.ok(&["install", "mcp", agent, "--allow", "fork", "--yes"]);
        let allowed = std::fs::read_to_string(&file).unwrap();
        assert!(allowed.contains("\"fork\""), "{agent}: {allowed}");
        std::fs::write(&file, "{ // mine\n").unwrap();
        let (code, refused) = sandbox.error(&["install", "mcp", agent, "--yes"]);
        assert_eq!((code, &refused["kind"]), (4, &json!("conflict")), "{agent}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "{ // mine\n");
    }
    let secret = "postgres://ann:sesame@example.org/team";
    let (code, refused) = sandbox.error(&["--store", secret, "install", "mcp", "claude", "--yes"]);
    assert_eq!((code, &refused["kind"]), (2, &json!("invalid_args")));
    assert!(!refused.to_string().contains("sesame"), "{refused}");
}
