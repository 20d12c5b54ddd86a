//! Tests of `explore --agent`. A script acts as Pi: it appends to the session file that it is given,
//! and changes files. The real agents run in `cargo xtask agents`.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::answers;
use crate::rewind::Project;
use crate::sandbox::{Ran, of, ran};
use crate::scripted::{Answer, Scripted};

/// Does what its prompt names, as Pi does with a tool of its own and at the end with a text.
const PI: &str = r#"#!/usr/bin/env python3
import json, os, shutil, signal, subprocess, sys, time
path, prompt = sys.argv[sys.argv.index("--session") + 1], sys.stdin.read()
with open(path) as file:
    tip = [json.loads(line) for line in file][-1].get("id")
count = 0
def add(message):
    global tip, count
    count += 1
    record = {"type": "message", "id": f"{os.getpid():06x}{count:02x}", "parentId": tip,
              "timestamp": f"2026-11-29T06:00:{count:02}.000Z", "message": message}
    tip = record["id"]
    with open(path, "a") as file:
        file.write(json.dumps(record) + "\n")
add({"role": "user", "content": prompt})
if prompt == "good":
    with open("config.toml", "w") as file:
        file.write("level = 2\nmode = 1\nrest = 1\nlast = 1\n")
    with open("new.txt", "w") as file:
        file.write("made\n")
if prompt == "bad":
    os.remove("config.toml")
if prompt == "swap":
    folder = os.getcwd()
    os.chdir("..")
    shutil.rmtree(folder)
    os.symlink(os.environ["HOME"], folder)
if prompt == "crash":
    print("the model is gone", file=sys.stderr)
    sys.exit(3)
if prompt == "hang":
    child = subprocess.Popen(["sleep", "1000"])
    with open("begun", "w") as file:
        file.write(str(child.pid))
    child.wait()
if prompt == "stubborn":
    def refuse(*_):
        add({"role": "user", "content": "not yet"})
        open("refused", "w").close()
    signal.signal(signal.SIGTERM, refuse)
    with open("begun", "w") as file:
        file.write(str(os.getpid()))
    while True:
        signal.pause()
usage = {"input": 10, "output": 5, "cacheRead": 2, "cacheWrite": 0, "totalTokens": 17,
         "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0.25}}
add({"role": "assistant", "provider": "p", "model": "m", "usage": usage,
     "content": [{"type": "text", "text": f"{prompt} it is"}]})
"#;

/// Prints what cargo prints of its tests.
const JUDGE: &str = r#"#!/bin/sh
if grep -q 'level = 2' config.toml; then
    echo 'test result: ok. 3 passed; 0 failed; 0 ignored'
else
    echo 'test result: FAILED. 2 passed; 1 failed; 0 ignored'
    exit 101
fi
"#;

struct Race(Project);

impl Race {
    fn new(kind: &str) -> Self {
        let project = Project::new(kind);
        project.write("config.toml", "level = 1\nmode = 1\nrest = 1\nlast = 1\n");
        project.turn("begin");
        let programs = project.sandbox.path().join("programs");
        fs::create_dir(&programs).unwrap();
        for (name, text) in [("pi", PI), ("judge", JUDGE)] {
            let path = programs.join(name);
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        Self(project)
    }

    fn command(&self, words: &[&str]) -> std::process::Command {
        let (store, folder) = (self.0.store(), self.0.folder());
        let globals = ["--json", "--store", store, "--workspace", folder.to_str().unwrap()];
        let mut command = self.0.sandbox.command(&[&globals, words].concat());
        let path = std::env::var("PATH").unwrap();
        let programs = self.0.sandbox.path().join("programs");
        command.env("PATH", format!("{}:{path}", programs.display()));
        command
    }

    fn run(&self, words: &[&str]) -> Ran {
        let ran = ran(self.command(words));
        answers::are_of_the_contract(&[&["--json"], words].concat(), &ran.out);
        ran
    }

    fn explore(&self, prompts: &str, words: &[&str]) -> (i32, Value) {
        let prompts = self.0.sandbox.file("prompts.txt", prompts);
        let fixed = ["explore", "work", "--agent", "pi", "--prompts", prompts.to_str().unwrap()];
        let ran = self.run(&[&fixed, words].concat());
        (ran.code, serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{ran:?}")))
    }

    fn worktrees(&self) -> Vec<String> {
        let listed = self.0.json(&["worktrees", "list"]);
        let all = listed["worktrees"].as_array().unwrap().iter();
        all.map(|it| it["folder"].as_str().unwrap().to_owned()).collect()
    }

    fn texts(&self, session: &str) -> Vec<String> {
        let lines = self.0.run(&["--json", "replay", session]).out;
        let lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.filter_map(|line| line["content"].as_str().map(str::to_owned)).collect()
    }
}

#[test]
fn agents_work_in_worktrees_and_the_files_of_the_best_are_brought_back() {
    for kind in ["sqlite", "files"] {
        let race = Race::new(kind);
        let (code, answer) = race.explore("good\nbad\ncrash\nidle\n", &["--judge", "judge"]);
        assert_eq!(code, 0, "{answer}");
        let tries = answer["tries"].as_array().unwrap();
        let of = |at: usize| {
            let row = &tries[at];
            let work = &row["work"];
            json!([
                row["state"],
                row["score"],
                row["answer"],
                work["tests"],
                work["files"],
                work["added"],
                work["removed"]
            ])
        };
        let tests = |passed: u64, failed: u64| json!({"passed": passed, "failed": failed});
        assert_eq!(of(0), json!(["done", 1.0, "good it is", tests(3, 0), 2, 2, 1]));
        let share = 2.0 / 3.0;
        assert_eq!(of(1), json!(["done", share, "bad it is", tests(2, 1), 1, 0, 4]));
        assert_eq!(of(2), json!(["failed", null, "", null, 0, 0, 0]));
        assert_eq!(of(3), json!(["done", share, "idle it is", tests(2, 1), 0, 0, 0]));
        assert_eq!(tries[2]["error"], "pi ended with exit status: 3: the model is gone");
        assert_eq!(answer["best"], "try-1");
        assert_eq!(tries[0]["usage"], json!({"input": 12, "output": 5, "cached": 2, "cost": 0.25}));

        // Each is a branch at the end of the session, with what the agent wrote.
        let branches = race.0.json(&["branches", "work"]);
        let labels: Vec<_> = branches["branches"].as_array().unwrap().iter().collect();
        assert_eq!(labels.len(), 5, "{branches}");
        let winner = tries[0]["session_id"].as_str().unwrap();
        assert_eq!(race.texts(winner), ["begin", "done", "good", "good it is"]);
        assert_eq!(
            race.texts(tries[2]["session_id"].as_str().unwrap()),
            ["begin", "done", "crash"]
        );
        let folders: Vec<_> =
            tries.iter().map(|it| it["work"]["folder"].as_str().unwrap()).collect();
        let mut listed = race.worktrees();
        listed.sort();
        assert_eq!(listed, folders);

        // The user has changed another line meanwhile. Both changes are there, and go, and come.
        race.0.write("config.toml", "level = 1\nmode = 1\nrest = 1\nlast = 9\n");
        let merged = "level = 2\nmode = 1\nrest = 1\nlast = 9\n";
        race.0.json(&["bring", winner, "--into", "work", "--files"]);
        assert_eq!(
            (race.0.read("config.toml").as_str(), race.0.read("new.txt").as_str()),
            (merged, "made\n")
        );
        race.0.json(&["undo", "--yes"]);
        let mine = "level = 1\nmode = 1\nrest = 1\nlast = 9\n";
        assert_eq!(
            (race.0.read("config.toml").as_str(), race.0.read("new.txt").as_str()),
            (mine, "missing")
        );
        race.0.json(&["bring", winner, "--into", "work", "--files"]);
        assert_eq!(race.0.read("config.toml"), merged);

        for folder in folders {
            race.0.json(&["worktrees", "remove", folder, "--yes"]);
            assert!(!Path::new(folder).exists());
        }
        assert_eq!(race.worktrees(), [""; 0]);
    }
}

#[test]
fn a_judge_that_hangs_and_an_agent_that_hangs_are_stopped() {
    let race = Race::new("sqlite");
    let (code, answer) =
        race.explore("idle\n", &["-n", "1", "--judge", "sleep 1000", "--judge-timeout", "1"]);
    let row = &answer["tries"][0];
    assert_eq!((code, &row["state"], &row["score"]), (0, &json!("done"), &Value::Null));
    assert_eq!(row["error"], "the judge took over 1 s");
    let (code, answer) = race.explore("hang\n", &["-n", "1", "--timeout", "5"]);
    assert_eq!((code, &answer["tries"][0]["state"]), (1, &json!("failed")), "{answer}");
    assert_eq!(answer["tries"][0]["error"], "pi was stopped after 5 s");
    let folder = Path::new(answer["tries"][0]["work"]["folder"].as_str().unwrap()).to_path_buf();
    ends(&folder);
}

/// Starts an exploration whose first agent works until it is stopped. Returns its folder.
fn started(race: &Race, prompts: &str) -> (Child, PathBuf) {
    let prompts = race.0.sandbox.file("prompts.txt", prompts);
    let words = ["explore", "work", "--agent", "pi", "--jobs", "1", "--prompts"];
    let mut command = race.command(&[&words, [prompts.to_str().unwrap()].as_slice()].concat());
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let folder = race.0.folder().with_file_name("project.worktrees").join("try-1");
    begins(&folder);
    (child, folder)
}

/// Waits for the end of an exploration. Returns its exit code, its answer, and the states in it.
fn ended(child: Child) -> (i32, Value, Value) {
    let ran = of(&child.wait_with_output().unwrap());
    let answer: Value = serde_json::from_str(&ran.out).unwrap();
    let states = answer["tries"].as_array().unwrap().iter().map(|it| it["state"].clone());
    let states = Value::Array(states.collect());
    (ran.code, answer, states)
}

#[test]
fn ctrl_c_and_a_closed_terminal_stop_the_agents_and_lose_nothing() {
    for (signal, code) in [(Signal::INT, 130), (Signal::HUP, 129), (Signal::TERM, 143)] {
        let race = Race::new("sqlite");
        let (child, folder) = started(&race, "hang\nidle\nidle\n");
        send(&child, signal);
        let (found, answer, states) = ended(child);
        assert_eq!((found, states), (code, json!(["interrupted", "interrupted", "interrupted"])));
        ends(&folder);
        let first = answer["tries"][0]["session_id"].as_str().unwrap();
        assert_eq!(race.texts(first), ["begin", "done", "hang"]);
        assert_eq!(race.worktrees().len(), 3);
    }
}

#[test]
fn a_second_ctrl_c_kills_an_agent_that_does_not_end() {
    let race = Race::new("sqlite");
    let (child, folder) = started(&race, "stubborn\nidle\n");
    send(&child, Signal::INT);
    while !folder.join("refused").exists() {
        std::thread::yield_now();
    }
    send(&child, Signal::INT);
    let (code, answer, states) = ended(child);
    assert_eq!((code, states), (130, json!(["interrupted", "interrupted"])));
    ends(&folder);
    // Nobody waited for what the agent had to add.
    let first = answer["tries"][0]["session_id"].as_str().unwrap();
    assert!(!race.texts(first).contains(&"not yet".to_owned()));
    assert_eq!(race.worktrees().len(), 2);
}

#[test]
fn agents_that_cost_too_much_are_stopped_and_the_rows_say_so() {
    let race = Race::new("sqlite");
    let (code, answer) = race.explore("idle\nidle\n", &["--jobs", "1", "--max-cost", "0.1"]);
    let rows: Vec<_> = answer["tries"].as_array().unwrap().iter().collect();
    let states = [&rows[0]["state"], &rows[1]["state"]];
    assert_eq!(states, ["done", "interrupted"], "{answer}");
    assert_eq!(rows[1]["error"], "the agents cost more than 0.1 USD, so they were stopped");
    assert_eq!(code, 7, "{answer}");
}

#[test]
fn a_long_prompt_reaches_the_agent_and_a_folder_in_the_way_stays() {
    let race = Race::new("sqlite");
    let way = race.0.folder().with_file_name("project.worktrees").join("try-1");
    fs::create_dir_all(&way).unwrap();
    fs::write(way.join("mine"), "1").unwrap();
    // More than an argument may have.
    let prompt = "word ".repeat(50_000).trim().to_owned();
    let (code, answer) = race.explore(&prompt, &[]);
    assert_eq!(code, 0, "{answer}");
    let row = &answer["tries"][0];
    let folder = row["work"]["folder"].as_str().unwrap();
    assert_eq!(Path::new(folder), way.with_file_name("try-1-2"));
    assert!(race.texts(row["session_id"].as_str().unwrap()).contains(&prompt));
    assert_eq!(fs::read_dir(&way).unwrap().count(), 1);
}

#[test]
fn a_link_that_replaced_a_worktree_is_not_followed() {
    let race = Race::new("sqlite");
    let (_, answer) = race.explore("swap\n", &["--judge", "true"]);
    let row = &answer["tries"][0];
    assert_eq!((&row["state"], &row["score"]), (&json!("failed"), &Value::Null), "{answer}");
    assert!(row["error"].as_str().unwrap().contains(" is no folder any more: "), "{answer}");
    assert_eq!(row["work"]["files"], 0, "{answer}");
}

#[test]
fn a_judge_that_cannot_run_chooses_no_best() {
    let race = Race::new("sqlite");
    for (judge, score, why) in [
        ("env no-such-program", Value::Null, "the judge ended with exit status: 127: env: "),
        ("false", json!(0.0), "the judge ended with exit status: 1"),
    ] {
        let (_, answer) = race.explore("good\nbad\n", &["--judge", judge]);
        assert_eq!(answer["best"], Value::Null, "{answer}");
        for row in answer["tries"].as_array().unwrap() {
            assert_eq!(row["score"], score, "{answer}");
            assert!(row["error"].as_str().unwrap().starts_with(why), "{answer}");
        }
    }
}

#[test]
fn what_cannot_begin_leaves_nothing() {
    let race = Race::new("sqlite");
    let kind = |words: &[&str]| {
        let ran = race.run(&[&["explore", "work", "go", "--agent", "pi"], words].concat());
        serde_json::from_str::<Value>(&ran.out).unwrap()["error"]["kind"].clone()
    };
    assert_eq!(kind(&["--at", "turn:9"]), "invalid_args");
    assert_eq!(kind(&["--at", "start"]), "not_found");
    assert_eq!(kind(&["--judge", "no-such-program"]), "invalid_args");
    assert_eq!(kind(&["--label", "no label"]), "invalid_args");
    assert_eq!(kind(&["--allow", "shell.*"]), "invalid_args");
    fs::remove_file(race.0.sandbox.path().join("programs/pi")).unwrap();
    let mut without = race.command(&["explore", "work", "go", "--agent", "pi"]);
    without.env("PATH", "/usr/bin:/bin");
    let ran = ran(without);
    assert!(ran.out.contains("there is no program pi; install it"), "{ran:?}");
    let sessions = race.0.json(&["list", "--all"])["sessions"].as_array().unwrap().len();
    assert_eq!((sessions, race.worktrees().len()), (1, 0));
    let pi = race.0.sandbox.path().join("home/.pi");
    assert!(!pi.exists());
}

/// Waits until the agent in a folder works.
fn begins(folder: &Path) {
    while !fs::read_to_string(folder.join("begun")).is_ok_and(|text| !text.is_empty()) {
        std::thread::yield_now();
    }
}

/// Waits until what the agent in a folder has started is gone. An agent that was stopped early has
/// started nothing.
fn ends(folder: &Path) {
    let Ok(child) = fs::read_to_string(folder.join("begun")) else { return };
    let status = Path::new("/proc").join(child).join("status");
    let is_alive = || fs::read_to_string(&status).is_ok_and(|text| !text.contains("State:\tZ"));
    while is_alive() {
        std::thread::yield_now();
    }
}

fn send(child: &Child, signal: Signal) {
    rustix::process::kill_process(rustix::process::Pid::from_child(child), signal).unwrap();
}

/// An MCP server whose tool writes its text into the file `made` of the folder in which it runs.
const TOOL: &str = r#"
while read -r line; do
  id=$(printf '%s' "$line" | sed 's/.*"id":\([^,}]*\).*/\1/')
  answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
  case $line in
    *'"initialize"'*) answer '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"t","version":"1"}}' ;;
    *'"tools/list"'*) answer '{"tools":[{"name":"put","inputSchema":{"type":"object"}}]}' ;;
    *'"tools/call"'*) echo yes > made; answer '{"content":[{"type":"text","text":"done"}]}' ;;
  esac
done
"#;

#[test]
fn forklores_own_agent_races_too() {
    let race = Race::new("sqlite");
    let call = Answer::Calls("files__put", "{}");
    let says = Answer::Says;
    let script = [call, says("made it"), says("made none"), call, says("it was refused")];
    let model = Scripted::with_usage(&script);
    let server = race.0.sandbox.file("server.sh", TOOL);
    let tool = format!("[tools.files]\ncommand = \"sh\"\nargs = {}\n", json!([server]));
    let config = race.0.sandbox.file("config.toml", &(model.config() + &tool));
    let explore = |words: &[&str]| {
        let fixed = ["explore", "work", "make it", "--agent", "chat", "--judge", "test -f made"];
        let mut command = race.command(&[&fixed, words].concat());
        command.env("FORKLORE_CONFIG", &config);
        let ran = ran(command);
        (ran.code, serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{ran:?}")))
    };
    let (code, answer): (i32, Value) = explore(&["-n", "2", "--jobs", "1", "--allow", "files.*"]);
    assert_eq!(code, 0, "{answer}");
    let rows = answer["tries"].as_array().unwrap().iter();
    let found: Vec<_> = rows
        .map(|row| {
            let texts = race.texts(row["session_id"].as_str().unwrap());
            let count = |what: &str| texts.iter().filter(|text| *text == what).count();
            let counts = [count("begin"), count("make it")];
            json!([row["state"], row["score"], row["answer"], row["work"]["files"], counts])
        })
        .collect();
    let expected =
        [json!(["done", 1.0, "made it", 1, [1, 1]]), json!(["done", 0.0, "made none", 0, [1, 1]])];
    assert_eq!(found, expected);
    assert_eq!(race.worktrees().len(), 2);
    assert_eq!(race.0.read("made"), "missing");

    // Without its approval, the tool is not called. A model that is missing makes nothing.
    let (_, answer) = explore(&["-n", "1"]);
    let row = &answer["tries"][0];
    assert_eq!((&row["score"], &row["answer"]), (&json!(0.0), &json!("it was refused")));
    let (code, answer) = explore(&["-n", "1", "--models", "none"]);
    assert_eq!((code, race.worktrees().len()), (2, 3), "{answer}");
}
