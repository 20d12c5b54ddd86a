//! Tests of `explore`: its prompts, the labels of the forks, and the comparison of the answers.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::endpoint::{Endpoint, last_message};
use crate::sandbox::{Ran, Sandbox, ran, snapshot};

/// Creates a test environment with the session `plan-1`, and a configuration with two models at
/// `endpoint`.
fn sandbox(endpoint: &Endpoint) -> Sandbox {
    let sandbox = Sandbox::with_a_plan();
    let models = endpoint.model("one") + &endpoint.model("two");
    sandbox.file("config.toml", &format!("default_model = \"one\"\n{models}"));
    sandbox
}

fn explore(sandbox: &Sandbox, words: &[&str]) -> Ran {
    let words = [&["--workspace", crate::sandbox::WORKSPACE, "explore", "plan-1"], words].concat();
    let mut command = sandbox.command(&words);
    command.env("FORKLORE_CONFIG", sandbox.path().join("config.toml"));
    ran(command)
}

fn answer(ran: &Ran) -> Value {
    assert_eq!(ran.code, 0, "{ran:?}");
    serde_json::from_str(&ran.out).unwrap()
}

fn labels(answer: &Value) -> Vec<String> {
    let tries = answer["tries"].as_array().unwrap().iter();
    tries.map(|tried| tried["label"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn two_programs_explore_one_session_at_once() {
    let endpoint = Endpoint::echo();
    let sandbox = sandbox(&endpoint);
    let running: Vec<_> = (0..2)
        .map(|_| {
            let words =
                ["--workspace", crate::sandbox::WORKSPACE, "--json", "explore", "plan-1", "go on"];
            let mut command = sandbox.command(&words);
            command.env("FORKLORE_CONFIG", sandbox.path().join("config.toml"));
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    let mut all = Vec::new();
    for running in running {
        let output = running.wait_with_output().unwrap();
        let stdout = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(0), "{stdout}{:?}", output.stderr);
        let answer: Value = serde_json::from_str(&stdout).unwrap();
        for tried in answer["tries"].as_array().unwrap() {
            assert_eq!(tried["state"], "done", "{tried}");
        }
        all.extend(labels(&answer));
    }
    all.sort();
    assert_eq!(all, (1..=8).map(|number| format!("try-{number}")).collect::<Vec<_>>());
    let branches = sandbox.json(&["branches", "plan-1"]);
    assert_eq!(branches["branches"].as_array().unwrap().len(), 9);
}

#[test]
fn the_prompt_is_given_in_several_ways_and_once() {
    let endpoint = Endpoint::echo();
    let sandbox = sandbox(&endpoint);
    for words in [&["go", "on", "-n", "1"][..], &["-n1", "-p", "go on"], &["--prompt=go on", "-n1"]]
    {
        assert_eq!(explore(&sandbox, words).code, 0);
        let requests: Value = serde_json::from_str(endpoint.requests().last().unwrap()).unwrap();
        assert_eq!(last_message(&requests), "go on", "{words:?}");
    }
    assert_eq!(explore(&sandbox, &["go on", "--prompt", "go"]).code, 2);
    assert_eq!(explore(&sandbox, &["-n", "2"]).code, 2);
    assert_eq!(explore(&sandbox, &[" ", "-n", "2"]).code, 2);
    assert_eq!(endpoint.requests().len(), 3);
}

#[test]
fn prompts_come_from_a_file_that_has_an_end() {
    let endpoint = Endpoint::echo();
    let sandbox = sandbox(&endpoint);
    let good = sandbox.file("good.txt", "one\n\n  two  \n");
    let text = answer(&explore(&sandbox, &["--json", "--prompts", good.to_str().unwrap()]));
    let prompts: Vec<_> = text["tries"].as_array().unwrap().iter().map(|t| &t["prompt"]).collect();
    assert_eq!(prompts, ["one", "two"]);
    let long = sandbox.path().join("long.txt");
    std::fs::File::create(&long).unwrap().set_len(1 << 40).unwrap();
    let pipe = sandbox.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let no_text = sandbox.path().join("no.txt");
    std::fs::write(&no_text, b"one\ntw\xff\n").unwrap();
    let many = sandbox.file("many.txt", &"again\n".repeat(65));
    let empty = sandbox.file("empty.txt", "\n \n");
    let bad = ["/dev/zero".as_ref(), sandbox.path(), &pipe, &long, &no_text, &many, &empty]
        .map(|path| explore(&sandbox, &["--prompts", path.to_str().unwrap()]));
    let none = explore(&sandbox, &["--prompts", sandbox.path().join("none.txt").to_str().unwrap()]);
    let all = bad.iter().chain([&none]);
    let output: Vec<String> = all.map(|ran| format!("{} {}", ran.code, ran.err)).collect();
    snapshot!(output.concat());
    assert_eq!(endpoint.requests().len(), 2);
}

#[test]
fn what_came_of_it_is_compared() {
    let endpoint = Endpoint::answering(|request| {
        let text = last_message(request);
        if text.contains("fail") { Err(400) } else { Ok(format!("heard: {text}\nand more")) }
    });
    let sandbox = sandbox(&endpoint);
    let seconds = |text: &str| {
        let time = |line: &str| line.find(" s  ").map(|at| line[..at].trim_end().to_owned());
        let lines = text.lines().map(|line| match time(line) {
            Some(before) => {
                let stored = before.rfind(' ').unwrap();
                format!("{}[t] s{}", &before[..=stored], &line[before.len() + 2..])
            }
            None => line.to_owned(),
        });
        lines.collect::<Vec<_>>().join("\n")
    };
    let judge = sandbox.file("judge.sh", "if grep -q long; then echo 5; else exit 3; fi\n");
    std::fs::set_permissions(&judge, std::fs::Permissions::from_mode(0o755)).unwrap();
    let judge = format!("sh {}", judge.display());
    let prompts = sandbox.file("prompts.txt", "short\na long one, with many words in it\nfail\n");
    let words = ["--prompts", prompts.to_str().unwrap(), "--judge", &judge, "--jobs", "1"];
    let wide = explore(&sandbox, &words);
    let mut narrow = sandbox.command(
        &[&["--workspace", crate::sandbox::WORKSPACE, "explore", "plan-1"], &words[..]].concat(),
    );
    narrow.env("FORKLORE_CONFIG", sandbox.path().join("config.toml")).env("COLUMNS", "50");
    let narrow = ran(narrow);
    assert!(
        narrow.out.lines().skip(3).take(4).all(|line| line.chars().count() <= 50),
        "{}",
        narrow.out
    );
    let plain = explore(&sandbox, &["hello", "-n", "2", "--models", "one,two", "--at", "turn:1"]);
    let all = [wide, narrow, plain].map(|ran| format!("{}\n{}", seconds(&ran.out), ran.err));
    snapshot!(all.join("\n---\n"));
}

#[test]
fn costs_are_in_the_currency_of_the_configuration() {
    let endpoint = Endpoint::echo();
    let sandbox = sandbox(&endpoint);
    let priced = "price = { input = 1.5, output = 2.5 }\n";
    let config = endpoint.model("one") + priced;
    for (setting, currency) in [("", "USD"), ("currency = \"EUR\"\n", "EUR")] {
        sandbox.file("config.toml", &format!("{setting}{config}"));
        let ran = explore(&sandbox, &["go on", "-n", "1"]);
        let cost = |line: &str| line.split("  ").any(|word| word.trim().ends_with(currency));
        let priced = ran.out.lines().skip_while(|line| !line.contains("COST")).nth(1);
        assert!(ran.code == 0 && priced.is_some_and(cost), "{ran:?}");
    }
}

#[test]
fn a_judge_that_does_not_exist_is_refused_before_any_model_is_called() {
    let endpoint = Endpoint::echo();
    let sandbox = sandbox(&endpoint);
    let refused = explore(&sandbox, &["go on", "--judge", "nosuchcmd --fast"]);
    assert_eq!(
        (refused.code, &*refused.err),
        (2, "error: there is no program nosuchcmd to judge the answers\n")
    );
    assert_eq!(endpoint.requests(), Vec::<String>::new());
    assert_eq!(sandbox.json(&["list"])["sessions"].as_array().unwrap().len(), 1);
}

#[test]
fn an_exploration_that_wholly_failed_is_no_success() {
    let endpoint = Endpoint::answering(|_| Err(400));
    let sandbox = sandbox(&endpoint);
    let ran = explore(&sandbox, &["go on", "-n", "2", "--json"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    let answer: Value = serde_json::from_str(&ran.out).unwrap();
    let why = answer["tries"][0]["error"].as_str().unwrap();
    let error = json!({"kind": "internal", "message": format!("every continuation failed: {why}"),
        "details": {}, "next_actions": []});
    assert_eq!((&answer["ok"], &answer["error"]), (&json!(false), &error));
    let states = answer["tries"].as_array().unwrap().iter().map(|tried| tried["state"].clone());
    assert_eq!(states.collect::<Vec<_>>(), ["failed", "failed"]);
}

#[test]
fn a_configuration_that_others_may_change_is_refused() {
    let endpoint = Endpoint::echo();
    let sandbox = sandbox(&endpoint);
    let folder = sandbox.path().join("settings");
    std::fs::create_dir(&folder).unwrap();
    let path = folder.join("config.toml");
    std::fs::copy(sandbox.path().join("config.toml"), &path).unwrap();
    let tried = |what: &std::path::Path, mode| {
        let rights = |mode| std::fs::set_permissions(what, Permissions::from_mode(mode)).unwrap();
        rights(mode);
        let mut command = sandbox.command(&["explore", "plan-1", "go on"]);
        command.env("FORKLORE_CONFIG", &path);
        let ran = ran(command);
        rights(0o700);
        format!("{} {}", ran.code, ran.err)
    };
    snapshot!(tried(&path, 0o666) + &tried(&folder, 0o777));
    assert!(endpoint.requests().is_empty());
}
