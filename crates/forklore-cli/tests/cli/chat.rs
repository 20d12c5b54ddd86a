//! Conversations of one turn, with the real small model where an answer is needed.

use std::path::PathBuf;

use serde_json::Value;

use crate::place::{Place, Ran, ran, snapshot};

/// A place whose configuration names the small model.
fn talking() -> (Place, forklore_smollm::Server) {
    let server = forklore_smollm::Server::start().unwrap();
    let place = Place::new();
    configure(&place, &small(&server.openai()));
    (place, server)
}

fn small(url: &str) -> String {
    format!(
        "[models.small]\nprovider = \"openai\"\nmodel = \"{}\"\nbase_url = \"{url}\"\n\
         context_window = {}\nmax_output_tokens = 32\n",
        forklore_smollm::MODEL,
        forklore_smollm::CONTEXT
    )
}

fn configuration(place: &Place) -> PathBuf {
    place.path().join("config.toml")
}

fn configure(place: &Place, text: &str) {
    std::fs::write(configuration(place), text).unwrap();
}

/// The program with the place's configuration.
fn chat(place: &Place, words: &[&str]) -> Ran {
    let words = [&["--workspace", crate::place::WORKSPACE], words].concat();
    let mut command = place.command(&words);
    command.env("FORKLORE_CONFIG", configuration(place));
    ran(command)
}

fn last_line(ran: &Ran) -> Value {
    serde_json::from_str(ran.out.lines().last().unwrap()).unwrap()
}

#[test]
fn without_a_model_it_says_what_to_write() {
    let place = Place::new();
    let ran = chat(&place, &["chat", "-p", "hello"]);
    assert_eq!((ran.code, &*ran.out), (2, ""));
    let json = chat(&place, &["--json", "chat", "-p", "hello"]);
    assert_eq!(last_line(&json)["error"]["kind"], "invalid_args");
    snapshot!(ran.err);
    // Nothing was made.
    assert!(!place.store().exists());
}

#[test]
fn what_is_wrong_with_the_configuration_is_named_with_its_line() {
    let place = Place::new();
    configure(&place, "[models.small]\nprovider = \"openai\"\nmodel = \"m\"\napi_key = \"sk-1\"\n");
    let ran = chat(&place, &["chat", "-p", "hello"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("config.toml, line 4: unknown field `api_key`"), "{}", ran.err);
    assert!(!ran.err.contains("sk-1"), "{}", ran.err);
}

#[test]
fn there_must_be_something_to_say_and_somewhere_to_say_it() {
    let place = Place::new();
    for words in [&["chat"][..], &["chat", "-p", " "], &["resume", "last", "-p", ""]] {
        let ran = chat(&place, words);
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.err.contains("there is nothing to say"), "{}", ran.err);
    }
}

#[test]
fn s16_a_folder_says_neither_models_nor_tools() {
    let place = Place::with_a_plan();
    let folder = place.path().join("project");
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
        let mut command = place.command(words);
        command.env("FORKLORE_CONFIG", configuration(&place)).current_dir(&folder);
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
    let (place, _server) = talking();
    let first = chat(&place, &["chat", "-p", "Name three colours."]);
    assert_eq!(first.code, 0, "{first:?}");
    assert!(!first.out.trim().is_empty());
    assert!(first.err.contains("next: forklore resume "), "{}", first.err);
    // What is piped in is said; the events are lines, and the last one is the answer.
    let mut command =
        place.command(&["--workspace", crate::place::WORKSPACE, "--json", "resume", "last"]);
    let input = place.file("said.txt", "Name three birds.\n");
    command
        .env("FORKLORE_CONFIG", configuration(&place))
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
    let replay = place.ok(&["--json", "replay", "last"]);
    assert_eq!(replay.lines().count(), 4);
    let id = answer["session_id"].as_str().unwrap();
    assert_eq!(answer["resume_command"], format!("forklore resume {id}"));
}

#[test]
fn an_imported_session_is_continued() {
    let (place, _server) = talking();
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let file = root.join("testdata/plain/demo.jsonl");
    let file = if file.exists() { file } else { root.join("testdata/pi/demo.jsonl") };
    let before = std::fs::read(&file).unwrap();
    let said = chat(&place, &["--json", "chat", file.to_str().unwrap(), "-p", "Say hello."]);
    // So small a model may not know when to stop.
    let status = &last_line(&said)["status"];
    assert!(*status == "success" || status["incomplete"].is_string(), "{said:?}");
    let session = last_line(&said)["session_id"].as_str().unwrap().to_owned();
    let replay = place.ok(&["--json", "replay", &session]);
    let last: Value = serde_json::from_str(replay.lines().last().unwrap()).unwrap();
    assert_eq!(last["role"], "assistant");
    assert!(replay.lines().count() > 4);
    assert_eq!(std::fs::read(&file).unwrap(), before);
}

#[test]
fn four_ways_are_explored_and_one_is_brought_back() {
    let (place, _server) = talking();
    assert_eq!(chat(&place, &["chat", "-p", "Name three colours."]).code, 0);
    let explored = chat(
        &place,
        &["--json", "explore", "last", "--prompt", "Say more.", "--judge", "wc -c", "--jobs", "1"],
    );
    assert_eq!(explored.code, 0, "{explored:?}");
    let answer = last_line(&explored);
    let tries = answer["tries"].as_array().unwrap();
    assert_eq!(tries.len(), 4);
    for tried in tries {
        assert_eq!((&tried["state"], &tried["error"]), (&"done".into(), &Value::Null));
        assert!(tried["score"].as_f64().unwrap() > 0.0);
        // One after the other, each finds the prefix in the server's cache.
        assert!(tried["usage"]["cached"].as_u64().unwrap() > 0, "{tried}");
    }
    let best = answer["best"].as_str().unwrap();
    let (best, main) = (format!("@{best}"), answer["session_id"].as_str().unwrap());
    let brought = chat(&place, &["--json", "bring", &best, "--into", main, "--summarize=model"]);
    assert_eq!(brought.code, 0, "{brought:?}");
    assert_eq!(last_line(&brought)["strategy"], "model_summary_v1");
    let forked = chat(
        &place,
        &["--json", "fork", main, "--at", "turn:1", "--summarize=model", "--id", "summed-up"],
    );
    assert_eq!(forked.code, 0, "{forked:?}");
    let log = place.ok(&["--json", "log", "summed-up"]);
    let last: Value = serde_json::from_str(log.lines().last().unwrap()).unwrap();
    assert_eq!(last["data"]["strategy"], "model_summary_v1");
    assert_eq!(last["data"]["model"], forklore_smollm::MODEL);
}
