//! The environment of a single test: one folder with a home directory, a store and files.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::SystemTime;

use serde_json::Value;
use tempfile::TempDir;

use crate::answers;

/// The workspace of the commands. It need not exist. Its length is the same in every run, so that
/// snapshots are stable.
pub(crate) const WORKSPACE: &str = "/demo";

/// The environment of a test. Dropping this value deletes its files.
pub(crate) struct Sandbox {
    dir: TempDir,
    /// Whether `FORKLORE_STORE` names the store. Otherwise it is the default store.
    is_named: bool,
}

/// The result of a command: its exit code and its output.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        let dir = TempDir::new().unwrap();
        std::fs::create_dir(dir.path().join("home")).unwrap();
        Self { dir, is_named: true }
    }

    /// Creates an environment that uses the default store. Commands that make no session may look
    /// into it before it exists.
    pub(crate) fn with_default_store() -> Self {
        Self { is_named: false, ..Self::new() }
    }

    /// Creates an environment with the session `plan-1`, which has two turns. The first turn has a
    /// tool call.
    pub(crate) fn with_a_plan() -> Self {
        let sandbox = Self::new();
        sandbox.ok(&["new", "--id", "plan-1", "--title", "Plan the release"]);
        sandbox.append("plan-1", PLAN);
        sandbox
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Writes a file in the environment's folder and returns its path.
    pub(crate) fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        // The clock of a file system may be some milliseconds behind what the program wrote before.
        let file = File::options().write(true).open(&path).unwrap();
        file.set_modified(SystemTime::now()).unwrap();
        path
    }

    pub(crate) fn store(&self) -> PathBuf {
        let named =
            if self.is_named { "store.db" } else { "home/.local/share/forklore/sessions.db" };
        self.dir.path().join(named)
    }

    /// Returns a command that runs the program with these arguments, without the environment
    /// variables of the machine.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_forklore"));
        command
            .args(words)
            .env_clear()
            .env("HOME", self.dir.path().join("home"))
            .env("COLUMNS", "100")
            .env("TZ", "UTC")
            .current_dir(self.dir.path())
            .stdin(Stdio::null());
        if self.is_named {
            command.env("FORKLORE_STORE", format!("sqlite:{}", self.store().display()));
        }
        command
    }

    pub(crate) fn run(&self, words: &[&str]) -> Ran {
        let ran = ran(self.command(&[&["--workspace", WORKSPACE], words].concat()));
        check(words, &ran);
        ran
    }

    /// Runs a command that must succeed, and returns its output.
    pub(crate) fn ok(&self, words: &[&str]) -> String {
        let ran = self.run(words);
        assert_eq!(ran.code, 0, "{words:?}: {ran:?}");
        ran.out
    }

    /// Returns the JSON answer of a command that must succeed.
    pub(crate) fn json(&self, words: &[&str]) -> Value {
        let out = self.ok(&[&["--json"], words].concat());
        serde_json::from_str(&out).unwrap_or_else(|error| panic!("{words:?}: {error}: {out}"))
    }

    /// Returns the exit code and the error object of a command that must fail.
    pub(crate) fn error(&self, words: &[&str]) -> (i32, Value) {
        let ran = self.run(&[&["--json"], words].concat());
        let last = ran.out.lines().last().unwrap_or_default();
        let answer: Value = serde_json::from_str(last)
            .unwrap_or_else(|error| panic!("{words:?}: {error}: {ran:?}"));
        assert_eq!((answer["ok"].as_bool(), &*ran.err), (Some(false), ""), "{words:?}");
        (ran.code, answer["error"].clone())
    }

    /// Appends JSON lines to a session.
    pub(crate) fn append(&self, session: &str, lines: &str) -> Ran {
        self.feed(&["append", session], lines)
    }

    /// Runs a command with `input` on its standard input.
    pub(crate) fn feed(&self, words: &[&str], input: &str) -> Ran {
        let mut command = self.command(&[&["--workspace", WORKSPACE], words].concat());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let ran = of(&child.wait_with_output().unwrap());
        check(words, &ran);
        ran
    }
}

/// If the command line has `--json`, checks that the output follows the contract.
fn check(words: &[&str], ran: &Ran) {
    if words.contains(&"--json") {
        answers::are_of_the_contract(words, &ran.out);
    }
}

/// The JSON lines of a conversation of two turns, with usage and an open call.
const PLAN: &str = r#"{"type":"user_message","data":{"content":"plan A or plan B?"}}
{"type":"assistant_message","data":{"content":[{"type":"text","text":"Let me look."},{"type":"tool_call","id":"c1","name":"read","arguments":{"path":"plan.md"}}]}}
{"type":"tool_result","data":{"call_id":"c1","name":"read","content":"A: fast\nB: cheap"}}
{"type":"assistant_message","data":{"content":"Plan B."}}
{"type":"provider_usage","data":{"input":120,"output":30,"cached":100,"cost":0.25}}
{"type":"user_message","data":{"content":"Then do it."}}
{"type":"assistant_message","data":{"content":[{"type":"tool_call","id":"c2","name":"write","arguments":{"path":"todo.md"}}]}}
"#;

pub(crate) fn ran(mut command: Command) -> Ran {
    of(&command.output().unwrap())
}

pub(crate) fn of(output: &std::process::Output) -> Ran {
    Ran {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout.clone()).unwrap(),
        err: String::from_utf8(output.stderr.clone()).unwrap(),
    }
}

/// Copies a folder with everything in it.
pub(crate) fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let (path, copy) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy_folder(&path, &copy);
        } else {
            std::fs::copy(path, copy).unwrap();
        }
    }
}

/// Compares text with a snapshot. First replaces values that differ between runs, such as ids, by
/// placeholders.
macro_rules! snapshot {
    ($text:expr) => {
        insta::with_settings!({ omit_expression => true, filters => crate::sandbox::FILTERS.to_vec() }, {
            insta::assert_snapshot!($text)
        })
    };
}
pub(crate) use snapshot;

pub(crate) const FILTERS: &[(&str, &str)] = &[
    (r"parted-[0-9a-f]{16}", "parted-[hex]"),
    (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "[uuid]"),
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)", "[time]"),
    (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC", "[time]"),
    (r"\d\d-\d\d \d\d:\d\d:\d\d", "[time]"),
    (r#""store_bytes": \d+"#, r#""store_bytes": [bytes]"#),
    (r"(store +)[\d.]+ [kM]?B", "$1[size]"),
    (r#""freed_bytes": \d+"#, r#""freed_bytes": [bytes]"#),
    (r"Freed [\d.]+ [kM]?B", "Freed [size]"),
    (r"(ses|msg|prt)_[0-9a-zA-Z]{26,32}", "[$1]"),
    (r#""(id|parentId)":"([0-9a-f]{8}|[0-9a-f]{16})""#, r#""$1":"[id]""#),
    (r"\d{8}T\d{6}-[0-9a-f]{6}", "[pixir]"),
    (r#""projectHash":"[0-9a-f]{64}""#, r#""projectHash":"[hash]""#),
    (r"\b1[789]\d{11}\b", "[ms]"),
    (r"[^\s]*/\.tmp[A-Za-z0-9]{6}", "[dir]"),
];

/// Checks whether text has the form of a label that a fork gets without `--label`, such as
/// `brave-otter`.
pub(crate) fn is_generated_label(text: &str) -> bool {
    let is_word = |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase());
    text.split_once('-').is_some_and(|(first, second)| is_word(first) && is_word(second))
}
