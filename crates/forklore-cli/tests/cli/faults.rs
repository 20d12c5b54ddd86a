//! Tests of conversations with faulty servers and incomplete configurations.

use serde_json::{Value, json};

use crate::endpoint::Endpoint;
use crate::sandbox::{Ran, Sandbox, ran};

/// Runs a turn with the prompt "hello" and this configuration.
fn hello(sandbox: &Sandbox, configuration: &str) -> Ran {
    let path = sandbox.file("config.toml", configuration);
    let words = ["--workspace", crate::sandbox::WORKSPACE, "--json", "chat", "-p", "hello"];
    let mut command = sandbox.command(&words);
    command.env("FORKLORE_CONFIG", path);
    ran(command)
}

fn last_line(ran: &Ran) -> Value {
    serde_json::from_str(ran.out.lines().last().unwrap()).unwrap()
}

/// Returns the types and the payloads of the events in the last updated session.
fn log(sandbox: &Sandbox) -> Vec<(String, Value)> {
    let log = sandbox.ok(&["--json", "log", "last"]);
    let events = log.lines().map(|line| {
        let mut event: Value = serde_json::from_str(line).unwrap();
        (event["type"].as_str().unwrap().to_owned(), event["data"].take())
    });
    events.collect()
}

#[test]
fn faults_of_a_server_are_not_the_callers() {
    let page = "<html><head><title>Not here</title></head></html>";
    let huge = format!("{{\"error\":{{\"message\":\"{}\"}}}}", "x".repeat(3 << 20));
    let refused = r#"{"error":{"message":"no such field","type":"invalid_request_error"}}"#;
    for (head, body, code, kind) in [
        ("400 Bad Request", page, 1, "internal"),
        ("400 Bad Request", &*huge, 1, "internal"),
        ("307 Temporary Redirect\r\nlocation: http://127.0.0.1:9/", "", 1, "internal"),
        ("200 OK\r\ncontent-type: text/html", page, 1, "internal"),
        ("200 OK\r\ncontent-type: text/event-stream", "data: {]\n\n", 1, "internal"),
        ("200 OK\r\ncontent-type: application/json", "{\"choices\":[]}", 1, "internal"),
        ("400 Bad Request", refused, 2, "invalid_args"),
        ("404 Not Found", r#"{"error":"no such model"}"#, 2, "not_found"),
        ("401 Unauthorized", r#"{"error":"who are you?"}"#, 3, "permission_denied"),
    ] {
        let answer = format!(
            "HTTP/1.1 {head}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        let sandbox = Sandbox::new();
        let ran = hello(&sandbox, &Endpoint::raw(&answer).model("small"));
        let error = &last_line(&ran)["error"];
        assert_eq!((ran.code, &error["kind"]), (code, &json!(kind)), "{head}: {ran:?}");
        assert!(!error["next_actions"].as_array().unwrap().is_empty(), "{error}");
        // The prompt is stored, although the turn failed.
        let types: Vec<String> = log(&sandbox).into_iter().map(|(kind, _)| kind).collect();
        assert_eq!(types, ["user_message", "turn_failed"]);
    }
}

#[test]
fn an_answer_that_is_too_long_is_stored_up_to_the_limit() {
    let endpoint = Endpoint::answering(|_| Ok("x".repeat(3 << 20)));
    let sandbox = Sandbox::new();
    let ran = hello(&sandbox, &endpoint.model("small"));
    assert_eq!(ran.code, 1, "{}", ran.err);
    let error = last_line(&ran)["error"]["message"].as_str().unwrap().to_owned();
    assert!(error.ends_with("it has more than 2 MiB of text"), "{error}");
    let log = log(&sandbox);
    let partial = json!({"content": "x".repeat(2 << 20), "partial": true});
    assert!(log[1] == ("assistant_message".to_owned(), partial), "{:?}", log[1].0);
    assert_eq!((log[2].0.as_str(), log.len()), ("turn_failed", 3));
}

#[test]
fn a_missing_key_is_reported_before_anything_is_stored() {
    let endpoint = Endpoint::echo();
    let configuration = format!("{}key_env = \"MISSING_KEY\"\n", endpoint.model("small"));
    let sandbox = Sandbox::new();
    let ran = hello(&sandbox, &configuration);
    assert_eq!(ran.code, 3, "{ran:?}");
    let error = &last_line(&ran)["error"];
    let expected = "the model cannot be asked: openai m-small: no key: \
                    the environment variable MISSING_KEY is not set";
    assert_eq!(
        (&error["kind"], &error["message"]),
        (&json!("permission_denied"), &json!(expected))
    );
    assert_eq!(sandbox.json(&["list", "--all"])["sessions"], json!([]));
    // An exploration that fails at the start creates no fork. The request can still be inspected.
    sandbox.ok(&["new", "--id", "here"]);
    sandbox.ok(&["append", "here", "--text", "hello"]);
    let with = |words: &[&str]| {
        let mut command = sandbox.command(words);
        command.env("FORKLORE_CONFIG", sandbox.path().join("config.toml"));
        crate::sandbox::ran(command)
    };
    assert_eq!(with(&["explore", "here", "and now?"]).code, 3);
    assert_eq!(sandbox.json(&["branches", "here"])["branches"].as_array().unwrap().len(), 1);
    let shown = with(&["--json", "inspect", "here", "--request"]);
    assert_eq!((shown.code, &last_line(&shown)["messages"]), (0, &json!(1)));
    assert!(endpoint.requests().is_empty());
}

#[test]
fn a_key_instead_of_its_variable_is_shown_nowhere() {
    let sandbox = Sandbox::new();
    let configuration = "[models.small]\nprovider = \"anthropic\"\nmodel = \"m\"\n\
                         key_env = \"sk-ant-0123456789\"\n";
    let ran = hello(&sandbox, configuration);
    assert_eq!(ran.code, 2);
    let error = last_line(&ran)["error"]["message"].as_str().unwrap().to_owned();
    assert!(error.contains("config.toml, line 4: key_env is the name of"), "{error}");
    assert!(!format!("{ran:?}").contains("0123456789"), "{ran:?}");
    assert!(!sandbox.store().exists());
}

#[test]
fn a_cost_is_reported_if_the_price_is_configured() {
    let endpoint = Endpoint::echo();
    for (price, cost) in [
        ("", Value::Null),
        ("price = { input = 0, output = 0 }\n", json!(0.0)),
        ("price = { input = 1000, output = 10000, cached = 0 }\n", json!(0.07)),
    ] {
        let sandbox = Sandbox::new();
        let ran = hello(&sandbox, &format!("{}{price}", endpoint.model("small")));
        let usage = &last_line(&ran)["usage"];
        assert_eq!(*usage, json!({"input": 100, "output": 5, "cached": 80, "cost": cost}));
        let words =
            ["--workspace", crate::sandbox::WORKSPACE, "--json", "explore", "last", "again"];
        let mut command = sandbox.command(&words);
        command.env("FORKLORE_CONFIG", sandbox.path().join("config.toml"));
        let explored = crate::sandbox::ran(command);
        assert_eq!(explored.code, 0, "{explored:?}");
        assert_eq!(last_line(&explored)["tries"][3]["usage"]["cost"], cost);
    }
}
