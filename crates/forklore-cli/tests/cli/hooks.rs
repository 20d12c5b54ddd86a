//! Tests of `hooks`, and of the snapshots that the hooks of other agents take.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::SystemTime;

use serde_json::{Value, json};

use crate::answers;
use crate::sandbox::{Ran, Sandbox, of, ran};

const NATIVE: &str = "0b1c2d3e-0000-4000-8000-000000000001";

#[test]
fn hooks_are_added_once_and_removed_without_a_trace() {
    let sandbox = Sandbox::new();
    let home = sandbox.path().join("home");
    let settings =
        "{\n  // mine\n  \"hooks\": {\n    \"Stop\": [\n      { \"hooks\": [] }\n    ]\n  }\n}\n";
    for (agent, file, before) in [
        ("claude", ".claude/settings.json", Some(settings)),
        ("codex", ".codex/config.toml", Some("# mine\n[features]\nweb = true\n")),
        ("gemini", ".gemini/settings.json", Some("{\"theme\":\"dark\"}")),
        ("opencode", ".config/opencode/plugin/forklore.js", None),
        ("pi", ".pi/agent/extensions/forklore.js", None),
    ] {
        let file = home.join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        if let Some(before) = before {
            fs::write(&file, before).unwrap();
        }
        let (code, refused) = sandbox.error(&["hooks", "install", agent]);
        assert_eq!((code, &refused["kind"]), (2, &json!("invalid_args")), "{agent}");
        let added = sandbox.json(&["hooks", "install", agent, "--yes"]);
        assert_eq!(added["path"], file.to_str().unwrap());
        assert_eq!((&added["written"], &added["existing"]), (&json!(true), &json!(false)));
        let text = fs::read_to_string(&file).unwrap();
        let again = sandbox.json(&["hooks", "install", agent, "--yes"]);
        assert_eq!((&again["written"], &again["existing"]), (&json!(false), &json!(true)));
        assert_eq!(fs::read_to_string(&file).unwrap(), text, "{agent}");
        let installed = |list: &Value| {
            let hooks = list["hooks"].as_array().unwrap().clone();
            hooks.into_iter().find(|hook| hook["agent"] == agent).unwrap()["installed"] == true
        };
        assert!(installed(&sandbox.json(&["hooks", "list"])), "{agent}");
        let removed = sandbox.json(&["hooks", "remove", agent, "--yes"]);
        assert_eq!((&removed["written"], &removed["existing"]), (&json!(true), &json!(true)));
        assert_eq!(fs::read_to_string(&file).ok().as_deref(), before, "{agent}");
        assert!(!installed(&sandbox.json(&["hooks", "list"])), "{agent}");
        let removed = sandbox.json(&["hooks", "remove", agent, "--yes"]);
        assert_eq!((&removed["written"], &removed["existing"]), (&json!(false), &json!(false)));
    }
    let codex = home.join(".codex/config.toml");
    fs::write(&codex, "notify = [\"theirs\"]\n").unwrap();
    let (code, refused) = sandbox.error(&["hooks", "install", "codex", "--yes"]);
    assert_eq!((code, &refused["kind"]), (4, &json!("conflict")));
    assert_eq!(fs::read_to_string(&codex).unwrap(), "notify = [\"theirs\"]\n");
}

#[test]
fn what_an_installation_suggests_can_be_run() {
    let sandbox = Sandbox::new();
    let installed = sandbox.run(&["hooks", "install", "claude", "--yes"]);
    let mut lines = installed.err.lines();
    let next = lines.find_map(|line| line.trim().strip_prefix("next: forklore ")).unwrap();
    let (words, _) = next.split_once("  ").unwrap();
    let ran = ran(sandbox.command(&words.split(' ').collect::<Vec<_>>()));
    assert_eq!(ran.code, 0, "{words}: {ran:?}");
}

/// A session of Claude Code, whose file this test writes as Claude Code does.
struct Agent {
    sandbox: Sandbox,
    records: usize,
}

impl Agent {
    fn new() -> Self {
        let sandbox = Sandbox::new();
        fs::create_dir(sandbox.path().join("project")).unwrap();
        Self { sandbox, records: 0 }
    }

    fn folder(&self) -> PathBuf {
        self.sandbox.path().join("project").canonicalize().unwrap()
    }

    fn file(&self) -> PathBuf {
        self.sandbox.path().join(format!("{NATIVE}.jsonl"))
    }

    fn write(&self, text: &str) {
        fs::write(self.folder().join("config"), text).unwrap();
    }

    fn read(&self) -> String {
        fs::read_to_string(self.folder().join("config")).unwrap_or_default()
    }

    fn run(&self, words: &[&str], input: &str) -> Ran {
        let folder = self.folder();
        let words = [&["--workspace", folder.to_str().unwrap()], words].concat();
        let mut command = self.sandbox.command(&words);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        of(&child.wait_with_output().unwrap())
    }

    fn json(&self, words: &[&str]) -> Value {
        let ran = self.run(&[&["--json"], words].concat(), "");
        assert_eq!(ran.code, 0, "{words:?}: {ran:?}");
        answers::are_of_the_contract(words, &ran.out);
        serde_json::from_str(&ran.out).unwrap()
    }

    /// Runs the hook, which says nothing and always ends well.
    fn hook(&self, folder: &Path) {
        let input = json!({"session_id": NATIVE, "cwd": folder, "transcript_path": self.file()});
        let ran = self.run(&["snapshot", "--hook", "claude"], &input.to_string());
        assert_eq!((ran.code, &*ran.out, &*ran.err), (0, "", ""));
    }

    fn record(&mut self, role: &str, text: &str) {
        let id = |record: usize| format!("0b1c2d3e-0000-4000-8000-1{record:011}");
        let parent = self.records.checked_sub(1).map(id);
        let now = jiff::Timestamp::try_from(SystemTime::now()).unwrap();
        let content = json!([{"type": "text", "text": text}]);
        let record = json!({
            "parentUuid": parent, "isSidechain": false, "userType": "external",
            "cwd": self.folder(), "sessionId": NATIVE, "version": "2.1.226", "type": role,
            "uuid": id(self.records), "timestamp": format!("{now:.3}"),
            "message": {"role": role, "content": content},
        });
        self.records += 1;
        let mut file = fs::OpenOptions::new().create(true).append(true).open(self.file()).unwrap();
        file.write_all(format!("{record}\n").as_bytes()).unwrap();
        // The records have milliseconds.
        std::thread::sleep(std::time::Duration::from_millis(2));
    }

    /// A turn in which the agent changes a file.
    fn turn(&mut self, question: &str, text: &str) {
        self.hook(&self.folder());
        self.record("user", question);
        self.record("assistant", "I change it.");
        self.write(text);
        self.hook(&self.folder());
    }

    fn import(&self) -> Value {
        let file = self.file();
        self.json(&["import", file.to_str().unwrap()])
    }

    fn sessions(&self) -> usize {
        self.json(&["list"])["sessions"].as_array().unwrap().len()
    }
}

#[test]
fn an_imported_session_goes_back_with_its_files_and_follows_its_file() {
    let mut agent = Agent::new();
    agent.write("level 0");
    agent.turn("to 1", "level 1");
    agent.import();
    agent.turn("to 2", "level 2");
    agent.import();
    agent.turn("to 3", "level 3");
    assert_eq!(agent.sessions(), 1);

    // The last turn is not imported yet, and what was not asked for is not done.
    let plan = agent.json(&["rewind", NATIVE, "--at", "turn:1", "--dry-run"]);
    assert_eq!(plan["files"]["written"], 1);
    let rewound = agent.json(&["rewind", NATIVE, "--at", "turn:1", "--both", "--yes"]);
    assert_eq!(agent.read(), "level 1");
    let fork = rewound["forked"]["child_session_id"].as_str().unwrap().to_owned();
    agent.json(&["undo", "--yes"]);
    assert_eq!(agent.read(), "level 3");

    agent.import();
    for (at, text) in [
        ("turn:3", "level 3"),
        ("turn:2", "level 2"),
        ("message:1", "level 1"),
        ("message:3", "level 2"),
        ("end", "level 3"),
    ] {
        agent.json(&["rewind", NATIVE, "--at", at, "--files", "--yes"]);
        assert_eq!(agent.read(), text, "{at}");
    }
    // A snapshot by hand disturbs nothing either.
    agent.write("level 4");
    let recorded = agent.json(&["snapshot", NATIVE]);
    assert_eq!(recorded["unchanged"], false);
    assert_eq!(agent.json(&["snapshot", NATIVE])["unchanged"], true);
    agent.turn("to 5", "level 5");
    agent.import();
    assert_eq!(agent.sessions(), 1, "{fork}");
    agent.json(&["rewind", NATIVE, "--at", "turn:3", "--files", "--yes"]);
    assert_eq!(agent.read(), "level 4");
}

#[test]
fn a_hook_that_fails_says_so_in_the_list_only() {
    let agent = Agent::new();
    let error = || {
        let list = agent.json(&["hooks", "list"]);
        let hooks = list["hooks"].as_array().unwrap().clone();
        let claude = hooks.into_iter().find(|hook| hook["agent"] == "claude").unwrap();
        claude["last"]["error"].as_str().unwrap_or_default().to_owned()
    };
    agent.hook(Path::new("/no/such/folder"));
    assert!(error().contains("/no/such/folder"), "{}", error());
    agent.hook(agent.sandbox.path());
    assert!(error().contains("contains your home"), "{}", error());
    let ran = agent.run(&["snapshot", "--hook", "claude"], "no json");
    assert_eq!((ran.code, &*ran.out, &*ran.err), (0, "", ""));
    assert!(error().contains("what claude says"), "{}", error());
    agent.hook(&agent.folder());
    assert_eq!(error(), "");
}
