//! Tests of `chat` with single turns. Tests that need an answer use the real small model or a
//! scripted one.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::Stdio;

use serde_json::Value;

use crate::sandbox::{Ran, Sandbox, ran, snapshot};
use crate::scripted::{Answer, Scripted};

/// Creates a test environment whose configuration names the small model.
fn talking() -> (Sandbox, forklore_smollm::Server) {
    let server = forklore_smollm::Server::start().unwrap();
    let sandbox = Sandbox::new();
    configure(&sandbox, &small(&server.openai()));
    (sandbox, server)
}

fn small(url: &str) -> String {
    format!(
        "[models.small]\nprovider = \"openai\"\nmodel = \"{}\"\nbase_url = \"{url}\"\n\
         context_window = {}\nmax_output_tokens = 32\n",
        forklore_smollm::MODEL,
        forklore_smollm::CONTEXT
    )
}

fn configuration(sandbox: &Sandbox) -> PathBuf {
    sandbox.path().join("config.toml")
}

fn configure(sandbox: &Sandbox, text: &str) {
    std::fs::write(configuration(sandbox), text).unwrap();
}

/// Runs the program with the test's configuration.
fn chat(sandbox: &Sandbox, words: &[&str]) -> Ran {
    let words = [&["--workspace", crate::sandbox::WORKSPACE], words].concat();
    let mut command = sandbox.command(&words);
    command.env("FORKLORE_CONFIG", configuration(sandbox));
    ran(command)
}

fn last_line(ran: &Ran) -> Value {
    serde_json::from_str(ran.out.lines().last().unwrap()).unwrap()
}

#[test]
fn without_a_model_it_says_what_to_write() {
    let sandbox = Sandbox::new();
    let ran = chat(&sandbox, &["chat", "-p", "hello"]);
    assert_eq!((ran.code, &*ran.out), (2, ""));
    let json = chat(&sandbox, &["--json", "chat", "-p", "hello"]);
    assert_eq!(last_line(&json)["error"]["kind"], "invalid_args");
    snapshot!(ran.err);
    // No store was created.
    assert!(!sandbox.store().exists());
}

#[test]
fn what_is_wrong_with_the_configuration_is_named_with_its_line() {
    let sandbox = Sandbox::new();
    configure(
        &sandbox,
        "[models.small]\nprovider = \"openai\"\nmodel = \"m\"\napi_key = \"sk-1\"\n",
    );
    let ran = chat(&sandbox, &["chat", "-p", "hello"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("config.toml, line 4: unknown field `api_key`"), "{}", ran.err);
    assert!(!ran.err.contains("sk-1"), "{}", ran.err);
}

#[test]
fn there_must_be_something_to_say_and_somewhere_to_say_it() {
    let sandbox = Sandbox::new();
    for words in [&["chat"][..], &["chat", "-p", " "], &["resume", "last", "-p", ""]] {
        let ran = chat(&sandbox, words);
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.err.contains("there is nothing to say"), "{}", ran.err);
    }
}

#[test]
fn a_folder_says_neither_models_nor_tools() {
    let sandbox = Sandbox::with_a_plan();
    let folder = sandbox.path().join("project");
    std::fs::create_dir_all(folder.join(".forklore")).unwrap();
    let evil = "[models.evil]\nprovider = 'openai'\nmodel = 'm'\nbase_url = 'http://127.0.0.1:9/v1'\n\
        [tools.evil]\ncommand = 'touch'\nargs = ['started']\n";
    let tries = ["forklore.toml", ".forklore.toml", ".forklore/config.toml"];
    for name in tries {
        std::fs::write(folder.join(name), evil).unwrap();
    }
    let verbs = [
        &["chat", "-p", "hello"][..],
        &["resume", "plan-1", "-p", "hello"],
        &["explore", "plan-1", "hello"],
        &["inspect", "plan-1", "--request"],
    ];
    for words in verbs {
        let mut command = sandbox.command(words);
        command.env("FORKLORE_CONFIG", configuration(&sandbox)).current_dir(&folder);
        let ran = ran(command);
        assert_eq!(ran.code, 2, "{ran:?}");
        for name in tries {
            let ignored = format!("ignored: {}", folder.join(name).display());
            assert!(ran.err.contains(&ignored), "{words:?}: {}", ran.err);
        }
        assert!(ran.err.contains("no model is configured"), "{}", ran.err);
    }
    assert!(!folder.join("started").exists());
}

#[test]
fn a_turn_is_answered_and_gone_on_with() {
    let (sandbox, _server) = talking();
    let first = chat(&sandbox, &["chat", "-p", "Name three colours."]);
    assert_eq!(first.code, 0, "{first:?}");
    assert!(!first.out.trim().is_empty());
    assert!(first.err.contains("next: forklore resume "), "{}", first.err);
    // The piped text becomes the prompt. The program prints events as JSON lines; the last line is
    // the answer.
    let mut command =
        sandbox.command(&["--workspace", crate::sandbox::WORKSPACE, "--json", "resume", "last"]);
    let input = sandbox.file("said.txt", "Name three birds.\n");
    command
        .env("FORKLORE_CONFIG", configuration(&sandbox))
        .stdin(std::fs::File::open(input).unwrap());
    let second = ran(command);
    assert_eq!(second.code, 0, "{second:?}");
    let events: Vec<Value> =
        second.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let names: Vec<&str> = events.iter().filter_map(|event| event["event"].as_str()).collect();
    for name in ["session:resume", "prompt:submit", "content_block:delta", "session:end"] {
        assert!(names.contains(&name), "{name} in {names:?}");
    }
    let answer = events.last().unwrap();
    assert_eq!((&answer["ok"], &answer["status"]), (&true.into(), &"success".into()));
    assert!(answer["usage"]["input"].as_u64().unwrap() > 0);
    let replay = sandbox.ok(&["--json", "replay", "last"]);
    assert_eq!(replay.lines().count(), 4);
    let id = answer["session_id"].as_str().unwrap();
    assert_eq!(answer["resume_command"], format!("forklore resume {id}"));
}

/// Creates a test environment whose configuration names a scripted model.
fn scripted(answers: &[Answer], more: &str) -> (Sandbox, Scripted) {
    let sandbox = Sandbox::new();
    let model = Scripted::start(answers);
    configure(&sandbox, &format!("{}{more}", model.config()));
    (sandbox, model)
}

/// Runs the program with the sandbox's configuration, and pipes `text` into it.
fn piped(sandbox: &Sandbox, words: &[&str], text: &str) -> Ran {
    let words = [&["--workspace", crate::sandbox::WORKSPACE], words].concat();
    let mut command = sandbox.command(&words);
    let input = sandbox.file("piped.txt", text);
    command
        .env("FORKLORE_CONFIG", configuration(sandbox))
        .stdin(std::fs::File::open(input).unwrap());
    ran(command)
}

#[test]
fn a_piped_text_is_sent_after_the_prompt() {
    let (sandbox, model) = scripted(&[], "");
    let text = |words: &[&str], text: &str| {
        let ran = piped(&sandbox, words, text);
        assert_eq!((ran.code, &*ran.out), (0, "done\n"), "{ran:?}");
        let requests = model.requests();
        requests.last().unwrap().last().unwrap().1.clone()
    };
    let joined = "what is wrong?\n\n  let a = 1;\nlet b = 2;";
    assert_eq!(text(&["chat", "-p", "what is wrong?"], "  let a = 1;\nlet b = 2;\n"), joined);
    assert_eq!(text(&["resume", "last", "-p", "and here?"], "c\n"), "and here?\n\nc");
    assert_eq!(text(&["chat", "-p", "an empty pipe"], ""), "an empty pipe");
    assert_eq!(text(&["chat"], " the text alone \n"), "the text alone");
}

#[test]
fn a_piped_text_that_no_model_takes_is_refused_and_nothing_stored() {
    let (sandbox, model) = scripted(&[], "");
    let ran = piped(&sandbox, &["chat", "-p", "sum up"], &"a".repeat((4 << 20) + 1));
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("the text that is piped in has more than 4194304 bytes"), "{ran:?}");
    assert!(ran.err.contains("--attach FILE"), "{ran:?}");
    assert!(model.requests().is_empty() && !sandbox.store().exists());
}

#[test]
fn a_file_without_a_prompt_is_refused_and_not_silently_left_out() {
    let (sandbox, _) = scripted(&[], "");
    let file = sandbox.file("note.txt", "a note");
    let words = ["resume", "last", "--continue", "--attach", file.to_str().unwrap()];
    let (code, error) = sandbox.error(&words);
    assert_eq!((code, &error["kind"]), (2, &serde_json::json!("invalid_args")), "{error}");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("--continue") && message.contains("--attach"), "{message}");
}

#[test]
fn a_pipe_that_nobody_writes_to_is_waited_for_and_the_program_says_so() {
    let (sandbox, model) = scripted(&[], "");
    let mut command = sandbox.command(&["chat", "-p", "hello"]);
    command.env("FORKLORE_CONFIG", configuration(&sandbox));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut remark = String::new();
    let mut errors = BufReader::new(child.stderr.take().unwrap());
    errors.read_line(&mut remark).unwrap();
    assert!(remark.contains("waiting for the end of the text that is piped in"), "{remark}");
    // The program still receives text that arrives late.
    child.stdin.take().unwrap().write_all(b"late").unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(model.requests()[0].last().unwrap().1, "hello\n\nlate");
}

#[test]
fn tools_are_allowed_for_one_run_but_never_what_is_denied() {
    let call = Answer::Calls("all__echo", "{\"message\": \"here\"}");
    let decided = |rules: &str, words: &[&str]| {
        let (sandbox, _model) = scripted(&[call, Answer::Says("done")], rules);
        let config = std::fs::read_to_string(configuration(&sandbox)).unwrap();
        configure(&sandbox, &format!("{config}{}", crate::signals::tools(&sandbox)));
        let ran = chat(&sandbox, &[&["chat", "-p", "call it"], words].concat());
        assert_eq!(ran.code, 0, "{ran:?}");
        let log = sandbox.ok(&["--json", "log", "last"]);
        let events = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let mut decisions = events.filter(|event| event["type"] == "permission_decision");
        decisions.next().unwrap()["data"]["decision"].as_str().unwrap().to_owned()
    };
    let pattern = ["--allow", "all.ec*"];
    assert_eq!(decided("", &[]), "deny");
    assert_eq!(decided("", &["--allow", "other.*"]), "deny");
    assert_eq!(decided("", &pattern), "allow");
    assert_eq!(decided("[policy]\nask = [\"*\"]\n", &["--allow", "x.*", "--allow", "*"]), "allow");
    assert_eq!(decided("[policy]\ndeny = [\"all.*\"]\n", &pattern), "deny");
    let (sandbox, _model) = scripted(&[], "");
    let ran = chat(&sandbox, &["chat", "-p", "hello", "--allow", "all"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("a pattern is `server.tool`"), "{ran:?}");
}

#[test]
fn a_run_allows_nothing_above_the_ceiling_of_a_session() {
    let call = Answer::Calls("all__echo", "{\"message\": \"here\"}");
    let (sandbox, _model) = scripted(&[call, Answer::Says("done")], "");
    let config = std::fs::read_to_string(configuration(&sandbox)).unwrap();
    configure(&sandbox, &format!("{config}{}", crate::signals::tools(&sandbox)));
    sandbox.ok(&["new", "--id", "wide"]);
    sandbox.ok(&["append", "wide", "--text", "hello"]);
    sandbox.ok(&["fork", "wide", "--id", "low", "--permissions", "files.read"]);
    let ran = chat(&sandbox, &["resume", "low", "-p", "call it", "--allow", "*"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let log = sandbox.ok(&["--json", "log", "low"]);
    assert!(!log.contains("Echo: here"), "{log}");
}

#[test]
fn an_imported_session_is_continued() {
    let (sandbox, _server) = talking();
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let file = root.join("testdata/plain/demo.jsonl");
    let file = if file.exists() { file } else { root.join("testdata/pi/demo.jsonl") };
    let before = std::fs::read(&file).unwrap();
    let text = chat(&sandbox, &["--json", "chat", file.to_str().unwrap(), "-p", "Say hello."]);
    // The small model may not end its answer, so an incomplete turn is accepted too.
    let status = &last_line(&text)["status"];
    assert!(*status == "success" || status["incomplete"].is_string(), "{text:?}");
    let session = last_line(&text)["session_id"].as_str().unwrap().to_owned();
    let replay = sandbox.ok(&["--json", "replay", &session]);
    let last: Value = serde_json::from_str(replay.lines().last().unwrap()).unwrap();
    assert_eq!(last["role"], "assistant");
    assert!(replay.lines().count() > 4);
    assert_eq!(std::fs::read(&file).unwrap(), before);
}

#[test]
fn four_ways_are_explored_and_one_is_brought_back() {
    let (sandbox, _server) = talking();
    assert_eq!(chat(&sandbox, &["chat", "-p", "Name three colours."]).code, 0);
    let explored = chat(
        &sandbox,
        &["--json", "explore", "last", "--prompt", "Say more.", "--judge", "wc -c", "--jobs", "1"],
    );
    assert_eq!(explored.code, 0, "{explored:?}");
    let answer = last_line(&explored);
    let tries = answer["tries"].as_array().unwrap();
    assert_eq!(tries.len(), 4);
    for tried in tries {
        assert_eq!((&tried["state"], &tried["error"]), (&"done".into(), &Value::Null));
        assert!(tried["score"].as_f64().unwrap() > 0.0);
        // The continuations run one after the other, so each finds the prefix in the server's
        // cache.
        assert!(tried["usage"]["cached"].as_u64().unwrap() > 0, "{tried}");
    }
    let best = answer["best"].as_str().unwrap();
    let (best, main) = (format!("@{best}"), answer["session_id"].as_str().unwrap());
    let brought = chat(&sandbox, &["--json", "bring", &best, "--into", main, "--summarize=model"]);
    assert_eq!(brought.code, 0, "{brought:?}");
    assert_eq!(last_line(&brought)["strategy"], "model_summary_v1");
    let forked = chat(
        &sandbox,
        &["--json", "fork", main, "--at", "turn:1", "--summarize=model", "--id", "summed-up"],
    );
    assert_eq!(forked.code, 0, "{forked:?}");
    let log = sandbox.ok(&["--json", "log", "summed-up"]);
    let events = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let events: Vec<Value> = events.collect();
    // Find the last summary, which the fork recorded. The fork inherits an earlier summary, which
    // `bring` recorded.
    let at = events.iter().rposition(|event| event["type"] == "branch_summary").unwrap();
    let summary = &events[at];
    assert_eq!(summary["data"]["strategy"], "model_summary_v1");
    assert_eq!(summary["data"]["model"], forklore_smollm::MODEL);
    // The usage of the model call is recorded right after the summary.
    assert_eq!(events[at + 1]["type"], "provider_usage");
}
