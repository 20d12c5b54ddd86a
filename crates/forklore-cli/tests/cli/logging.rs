//! Tests of logging with `FORKLORE_LOG`.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::endpoint::Endpoint;
use crate::sandbox::{Ran, Sandbox, WORKSPACE, ran};
use crate::scripted::{Answer, Scripted};

/// An API key. Neither this key nor the conversation texts in the constants below may be logged.
const KEY: &str = "sk-never-logged-0123456789";
const PROMPT: &str = "a prompt that nobody logs";
const SPEECH: &str = "an answer that nobody logs";
const ARGUMENT: &str = "an argument that nobody logs";

fn logged(sandbox: &Sandbox, filter: &str, words: &[&str]) -> Ran {
    let mut command = sandbox.command(words);
    command.env("FORKLORE_LOG", filter);
    ran(command)
}

/// Runs a turn with this configuration, and with this log filter if one is given.
fn chat(sandbox: &Sandbox, filter: Option<&str>, config: &str) -> Ran {
    let config = sandbox.file("config.toml", config);
    let mut command = sandbox.command(&["--workspace", WORKSPACE, "chat", "-p", PROMPT]);
    command.env("FORKLORE_CONFIG", config).env("TEST_KEY", KEY);
    command.envs(filter.map(|filter| ("FORKLORE_LOG", filter)));
    ran(command)
}

/// Returns the log records without their times. Lines of standard error without a time are no log
/// records.
fn records(ran: &Ran) -> Vec<&str> {
    let lines = ran.err.lines().filter_map(|line| line.split_once(' '));
    let lines = lines.filter(|(time, _)| time.len() > 20 && time.ends_with('Z'));
    lines.map(|(_, record)| record.trim_start()).collect()
}

/// Asserts that the log contains neither the API key nor any text of the conversation.
fn assert_discreet(ran: &Ran) {
    for secret in [KEY, PROMPT, SPEECH, ARGUMENT] {
        let leak = records(ran).into_iter().find(|record| record.contains(secret));
        assert_eq!(leak, None, "{secret}");
    }
}

/// Creates a `files:` store with a session whose last record is torn. Returns the URL of the store.
fn torn(sandbox: &Sandbox) -> String {
    let store = format!("files:{}", sandbox.path().join("files").display());
    sandbox.ok(&["--store", &store, "new", "--id", "a"]);
    sandbox.ok(&["--store", &store, "append", "a", "--text", "hello"]);
    let workspaces = sandbox.path().join("files/workspaces");
    let folder = std::fs::read_dir(workspaces).unwrap().next().unwrap().unwrap().path();
    let file = folder.join("a.jsonl");
    std::fs::OpenOptions::new().append(true).open(file).unwrap().write_all(b"{\"id\"").unwrap();
    store
}

#[test]
fn a_repaired_tail_is_logged_on_request() {
    let sandbox = Sandbox::new();
    let store = torn(&sandbox);
    let ran = logged(&sandbox, "warn", &["--store", &store, "append", "a", "--text", "again"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.err.contains("cut a torn tail off and kept it"), "{ran:?}");
    assert!(ran.err.contains("bytes=5"), "{ran:?}");
}

#[test]
fn nothing_is_logged_unasked() {
    let sandbox = Sandbox::new();
    let store = torn(&sandbox);
    let ran = ran(sandbox.command(&["--store", &store, "append", "a", "--text", "again"]));
    assert_eq!((ran.code, ran.err.contains("torn")), (0, false), "{ran:?}");
}

#[test]
fn a_filter_that_makes_no_sense_is_refused() {
    let sandbox = Sandbox::new();
    let ran = logged(&sandbox, "forklore=loudly", &["list", "--json"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.out.contains("loudly"), "{ran:?}");
}

#[test]
fn an_import_is_logged_with_its_numbers() {
    let sandbox = Sandbox::new();
    let chat = format!(
        "{{\"role\":\"user\",\"content\":\"{PROMPT}\"}}\n\
         {{\"role\":\"assistant\",\"content\":\"{SPEECH}\"}}\n"
    );
    let path = sandbox.file("chat\u{1b}.jsonl", &chat);
    let shown = path.canonicalize().unwrap().display().to_string().replace('\u{1b}', "\\u{1b}");
    let words = ["import", path.to_str().unwrap()];
    let imported = logged(&sandbox, "info", &words);
    let expected = format!(
        "INFO forklore_import::outcome: imported a file path={shown} dialect=\"plain\" sessions=1 \
         events=2 bytes={}",
        chat.len()
    );
    assert_eq!(records(&imported), [&*expected], "{imported:?}");
    assert_discreet(&imported);
    // A second import has nothing new to log.
    assert_eq!(records(&logged(&sandbox, "info", &words)), [""; 0]);
    std::fs::write(&path, chat.replace("nobody", "somebody")).unwrap();
    let rewritten = logged(&sandbox, "warn", &words);
    let expected = format!(
        "WARN forklore_import::start_reading: a file was rewritten: reads a new revision path={shown} \
         revision=1"
    );
    assert_eq!(records(&rewritten), [&*expected], "{rewritten:?}");
}

#[test]
fn a_deletion_and_a_collection_are_logged() {
    let sandbox = Sandbox::with_a_plan();
    let deleted = logged(&sandbox, "info", &["delete", "plan-1"]);
    let expected = "INFO forklore_engine::delete: deleted sessions session=plan-1 sessions=1 \
                    retained_segments=0";
    assert_eq!(records(&deleted), [expected], "{deleted:?}");
    let collected = logged(&sandbox, "info", &["gc"]);
    let [record] = records(&collected)[..] else { panic!("{collected:?}") };
    assert!(
        record.starts_with("INFO forklore_engine::gc: collected garbage sessions=0 freed_bytes=")
    );
}

/// Starts a model that refuses its first request with the HTTP status 503.
fn refusing_once() -> (Endpoint, String) {
    let refused = AtomicBool::new(false);
    let endpoint = Endpoint::answering(move |_| {
        if refused.swap(true, Ordering::Relaxed) { Ok(SPEECH.to_owned()) } else { Err(503) }
    });
    let config = format!("{}key_env = \"TEST_KEY\"\n", endpoint.model("one"));
    (endpoint, config)
}

#[test]
fn a_repeated_model_call_is_logged_with_its_status_and_wait() {
    let (_endpoint, config) = refusing_once();
    let ran = chat(&Sandbox::new(), Some("trace"), &config);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_discreet(&ran);
    let mut warnings = records(&ran);
    warnings.retain(|record| record.starts_with("WARN"));
    let [record] = warnings[..] else { panic!("{ran:?}") };
    let begin =
        "WARN forklore_agent::turn::trace_model_call: a model call failed and is repeated session=";
    assert!(record.starts_with(begin), "{record}");
    let facts = " provider=openai model=m-one attempt=1 status=503 cause=\"later\" wait_ms=";
    assert!(record.contains(facts), "{record}");
}

#[test]
fn without_a_request_nothing_is_logged() {
    let (_endpoint, config) = refusing_once();
    let ran = chat(&Sandbox::new(), None, &config);
    assert_eq!((ran.code, records(&ran)), (0, vec![]), "{ran:?}");
}

#[test]
fn no_level_logs_a_message() {
    let arguments: &'static str = "{\"path\":\"an argument that nobody logs\"}";
    let model = Scripted::start(&[Answer::Calls("gone__read", arguments), Answer::Says(SPEECH)]);
    let ran = chat(&Sandbox::new(), Some("trace"), &model.config());
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains(SPEECH), "{ran:?}");
    let records = records(&ran);
    let tool = records.iter().find(|record| record.contains("a tool call ended"));
    let tool = tool.unwrap_or_else(|| panic!("{ran:?}"));
    assert!(tool.ends_with(" tool=gone__read outcome=\"error\""), "{tool}");
    let calls = " model=m attempt=1 tool_calls=1 finish_reason=\"calls\"";
    assert!(records.iter().any(|record| record.ends_with(calls)), "{ran:?}");
    // Other crates log only if the filter names them, because they may log the text of messages.
    let foreign = records.iter().find(|record| !record.contains(" forklore"));
    assert_eq!(foreign, None);
    assert_discreet(&ran);
}

#[test]
fn a_tool_server_that_fails_is_logged() {
    let endpoint = Endpoint::echo();
    let tools = format!(
        "[tools.gone]\ncommand = \"/no/such/server\"\nargs = [\"{ARGUMENT}\"]\n\
         [tools.mute]\ncommand = \"sh\"\nargs = [\"-c\", \"echo {SPEECH}\"]\n"
    );
    let ran = chat(&Sandbox::new(), Some("warn"), &(endpoint.model("one") + &tools));
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_discreet(&ran);
    let mut failed = records(&ran);
    failed.sort_unstable();
    let record = |server: &str, cause: &str| {
        format!(
            "WARN forklore_mcp_client::server: a tool server did not start server={server} \
             cause=\"{cause}\""
        )
    };
    assert_eq!(failed, [record("gone", "not_started"), record("mute", "not_initialized")]);
}
