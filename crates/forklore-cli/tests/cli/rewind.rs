//! Tests of `snapshot`, `rewind` and `undo`: conversation and files go back together.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use crate::answers;
use crate::sandbox::{Ran, Sandbox, ran};

/// A session in a repository of git, in a store of one kind.
pub(crate) struct Project {
    pub(crate) sandbox: Sandbox,
    store: String,
}

impl Project {
    pub(crate) fn new(kind: &str) -> Self {
        let sandbox = Sandbox::new();
        let store = format!("{kind}:{}", sandbox.path().join("the-store").display());
        let project = Self { sandbox, store };
        fs::create_dir(project.folder()).unwrap();
        project.git(&["init", "--quiet", "--initial-branch=main"]);
        project.write("config.toml", "level = 1\n");
        project.write(".gitignore", "target/\n");
        project.git(&["add", "."]);
        project.git(&["commit", "--quiet", "--message=first"]);
        project.json(&["new", "--id", "work"]);
        project
    }

    pub(crate) fn store(&self) -> &str {
        &self.store
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.sandbox.path().join("project")
    }

    pub(crate) fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.folder().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.folder().join(path)).unwrap_or_else(|_| "missing".to_owned())
    }

    pub(crate) fn git(&self, args: &[&str]) -> String {
        let mut git = Command::new("git");
        git.current_dir(self.folder()).env("HOME", self.sandbox.path().join("home"));
        git.args(["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]);
        let done = git.args(args).output().unwrap();
        assert!(done.status.success(), "git {args:?}: {done:?}");
        String::from_utf8(done.stdout).unwrap()
    }

    pub(crate) fn run(&self, words: &[&str]) -> Ran {
        let folder = self.folder();
        let globals = ["--store", &self.store, "--workspace", folder.to_str().unwrap()];
        let ran = ran(self.sandbox.command(&[&globals, words].concat()));
        if words.contains(&"--json") {
            answers::are_of_the_contract(words, &ran.out);
        }
        ran
    }

    pub(crate) fn json(&self, words: &[&str]) -> Value {
        let ran = self.run(&[&["--json"], words].concat());
        assert_eq!(ran.code, 0, "{words:?}: {ran:?}");
        serde_json::from_str(&ran.out).unwrap()
    }

    pub(crate) fn error(&self, words: &[&str]) -> (i32, Value) {
        let ran = self.run(&[&["--json"], words].concat());
        let answer: Value = serde_json::from_str(&ran.out).unwrap();
        (ran.code, answer["error"].clone())
    }

    /// One turn of an agent, and the snapshot after it.
    pub(crate) fn turn(&self, question: &str) -> Value {
        for (role, text) in [("user", question), ("assistant", "done")] {
            self.json(&["append", "work", "--type", &format!("{role}_message"), "--text", text]);
        }
        self.json(&["snapshot", "work"])
    }

    fn texts(&self, session: &str) -> Vec<String> {
        let lines = self.run(&["--json", "replay", session]).out;
        let lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.map(|line| line["content"].as_str().unwrap_or_default().to_owned()).collect()
    }
}

/// A bad day: in its second turn, an agent deletes untracked results through the shell, edits the
/// configuration and commits. One command brings conversation and files back, another undoes that.
fn a_bad_day(kind: &str) {
    let project = Project::new(kind);
    project.write("results/run-1.csv", "a,b\n1,2\n");
    project.write("target/cache", "warm");
    let first = project.turn("measure it");
    assert_eq!((&first["files"], &first["branch"]), (&json!(3), &json!("main")));
    let again = project.json(&["snapshot", "work"]);
    assert_eq!((&again["unchanged"], &again["seq"]), (&json!(true), &first["seq"]));

    fs::remove_dir_all(project.folder().join("results")).unwrap();
    project.write("config.toml", "level = 9\n");
    project.write("junk", "1");
    project.git(&["add", "config.toml"]);
    project.git(&["commit", "--quiet", "--message=the agent's"]);
    project.turn("clean up");
    let head = project.git(&["rev-parse", "HEAD"]);

    let plan = project.json(&["rewind", "work", "--at", "turn:1", "--dry-run"]);
    let change = |path: &str, reason: &str| json!({"path": path, "reason": reason});
    let changes = [
        change("config.toml", "modified"),
        change("junk", "removed"),
        change("results/run-1.csv", "added"),
    ];
    assert_eq!(plan["files"]["changes"], json!(changes));
    assert_eq!(project.read("config.toml"), "level = 9\n");

    let rewound = project.json(&["rewind", "work", "--at", "turn:1", "--both", "--yes"]);
    assert_eq!(rewound["files"]["snapshot"], first["snapshot"]);
    let fork = rewound["forked"]["child_session_id"].as_str().unwrap();
    assert_eq!(project.texts(fork), ["measure it", "done"]);
    assert_eq!(project.texts("work").len(), 4);
    assert_eq!(project.read("results/run-1.csv"), "a,b\n1,2\n");
    assert_eq!(project.read("config.toml"), "level = 1\n");
    assert_eq!(
        (project.read("junk"), project.read("target/cache")),
        ("missing".into(), "warm".into())
    );
    // The user's repository is as the agent left it.
    assert_eq!(project.git(&["rev-parse", "HEAD"]), head);

    let undone = project.json(&["undo", "--yes"]);
    assert_eq!((&undone["undid"], &undone["fork"]), (&json!(1), &json!(fork)));
    assert_eq!(project.read("results/run-1.csv"), "missing");
    assert_eq!(
        (project.read("config.toml"), project.read("junk")),
        ("level = 9\n".into(), "1".into())
    );
    let trash = project.json(&["list", "--deleted", "--all"]);
    assert_eq!(trash["sessions"][0]["id"], fork);
    assert_eq!(project.error(&["undo"]).1["kind"], "not_found");

    // To undo the undo is to redo.
    let redone = project.json(&["undo", "2", "--yes"]);
    assert_eq!(redone["undid"], 2);
    assert_eq!(project.read("results/run-1.csv"), "a,b\n1,2\n");
    assert_eq!(project.texts(fork), ["measure it", "done"]);
    assert_eq!(project.json(&["verify"])["problems"], json!([]));
}

#[test]
fn a_bad_day_is_undone_and_the_undo_too_sqlite() {
    a_bad_day("sqlite");
}

#[test]
fn a_bad_day_is_undone_and_the_undo_too_files() {
    a_bad_day("files");
}

#[cfg(feature = "graph")]
#[test]
fn a_bad_day_is_undone_and_the_undo_too_graph() {
    a_bad_day("graph");
}

#[test]
fn edits_after_a_rewind_survive_its_undo_and_are_named() {
    let project = Project::new("sqlite");
    project.write("a", "then");
    project.write("b", "then");
    project.turn("one");
    project.write("a", "now");
    project.write("b", "now");
    project.json(&["rewind", "work", "--at", "turn:1", "--files"]);
    project.write("b", "the user's");
    project.write("c", "new");
    let undone = project.json(&["undo"]);
    let skipped = json!([{"path": "b", "reason": "changed"}]);
    assert_eq!((&undone["files"]["skipped"], &undone["fork"]), (&skipped, &Value::Null));
    let read = ["a", "b", "c"].map(|path| project.read(path));
    assert_eq!(read, ["now", "the user's", "new"]);
}

#[test]
fn a_folder_inside_of_the_project_will_do_for_an_undo() {
    let project = Project::new("sqlite");
    project.write("inside/a", "then");
    project.turn("one");
    project.write("inside/a", "now");
    project.json(&["rewind", "work", "--at", "turn:1", "--files"]);
    let inside = project.folder().join("inside");
    let words = ["--store", project.store(), "--workspace", inside.to_str().unwrap(), "undo"];
    let undone = ran(project.sandbox.command(&[&words[..], &["--json"]].concat()));
    let answer: Value = serde_json::from_str(&undone.out).unwrap();
    assert_eq!(answer["folder"], json!(project.folder().canonicalize().unwrap()));
    assert_eq!(project.read("inside/a"), "now");
}

#[test]
fn an_ignored_file_that_a_rewind_replaces_comes_back_with_its_undo() {
    let project = Project::new("sqlite");
    project.write("data", "then");
    project.turn("one");
    project.write("data", "now");
    project.write(".gitignore", "target/\ndata\n");
    project.json(&["rewind", "work", "--at", "turn:1", "--files"]);
    assert_eq!(project.read("data"), "then");
    project.json(&["undo"]);
    assert_eq!(
        (project.read("data"), project.read(".gitignore")),
        ("now".into(), "target/\ndata\n".into())
    );
}

#[test]
fn a_snapshot_of_another_machine_is_named_and_nothing_changes() {
    let project = Project::new("sqlite");
    project.write("a", "then");
    project.turn("one");
    project.write("a", "now");
    fs::remove_dir_all(project.sandbox.path().join("the-store-snapshots")).unwrap();
    let (_, error) = project.error(&["rewind", "work", "--at", "turn:1"]);
    assert_eq!(error["kind"], "not_found");
    assert!(error["message"].as_str().unwrap().contains("on this machine"), "{error}");
    assert_eq!(project.read("a"), "now");
    assert_eq!(project.json(&["list"])["sessions"].as_array().unwrap().len(), 1);
}

#[test]
fn conversation_alone_and_one_path_alone_go_back() {
    let project = Project::new("sqlite");
    project.write("a", "then");
    project.write("b", "then");
    project.turn("one");
    project.write("a", "now");
    project.write("b", "now");
    project.turn("two");
    let rewound =
        project.json(&["rewind", "work", "--at", "turn:1", "--conversation", "--label", "again"]);
    assert_eq!((&rewound["files"], &rewound["forked"]["label"]), (&Value::Null, &json!("again")));
    assert_eq!(project.read("a"), "now");

    project.json(&["rewind", "work", "--at", "turn:1", "--files", "--path", "a"]);
    assert_eq!((project.read("a"), project.read("b")), ("then".into(), "now".into()));
    project.json(&["undo"]);
    assert_eq!((project.read("a"), project.read("b")), ("now".into(), "now".into()));
    // The redo of one path is of one path.
    project.json(&["undo", "3"]);
    assert_eq!((project.read("a"), project.read("b")), ("then".into(), "now".into()));
    let later = project.json(&["rewind", "@again", "--at", "end", "--files"]);
    assert_eq!(later["files"]["written"], 1);
    assert_eq!(project.read("b"), "then");
}

#[test]
fn a_configuration_that_cannot_be_read_lifts_no_cap() {
    let project = Project::new("sqlite");
    let settings = project.sandbox.path().join("home/.config/forklore");
    fs::create_dir_all(&settings).unwrap();
    for wrong in ["[snapshots]\nmax_size = \"20 gigs\"\n", "[snapshots\n", "max_sise = 3\n"] {
        fs::write(settings.join("config.toml"), wrong).unwrap();
        let (code, error) = project.error(&["snapshot", "work"]);
        assert_eq!((code, &error["kind"]), (2, &json!("invalid_args")), "{error}");
        assert_eq!(project.json(&["show", "work"])["session"]["own_events"], 0);
    }
}

#[test]
fn without_a_snapshot_nothing_changes_and_the_way_is_named() {
    let project = Project::new("sqlite");
    for text in ["one", "two"] {
        project.json(&["append", "work", "--type", "user_message", "--text", text]);
    }
    let (code, error) = project.error(&["rewind", "work", "--at", "turn:1"]);
    assert_eq!((code, &error["kind"]), (2, &json!("not_found")));
    let next = error["next_actions"][0].as_str().unwrap();
    assert!(next.ends_with(" snapshot work"), "{next}");
    let listed = project.json(&["list", "--all"]);
    assert_eq!(listed["sessions"].as_array().unwrap().len(), 1);
}

#[test]
fn files_come_back_although_the_fork_was_gone_on_with() {
    let project = Project::new("sqlite");
    project.write("a", "then");
    project.turn("one");
    project.write("a", "now");
    project.turn("two");
    let rewound = project.json(&["rewind", "work", "--at", "turn:1"]);
    let fork = rewound["forked"]["child_session_id"].as_str().unwrap();
    project.json(&["append", fork, "--type", "user_message", "--text", "on"]);
    let undone = project.json(&["undo"]);
    assert_eq!((&undone["fork"], &undone["fork_left"]), (&Value::Null, &json!(fork)));
    assert_eq!(project.read("a"), "now");
    assert_eq!(project.texts(fork).last().unwrap(), "on");
    let redone = project.json(&["undo", undone["number"].to_string().as_str()]);
    assert_eq!((&redone["fork"], &redone["fork_left"]), (&Value::Null, &Value::Null));
    assert_eq!(project.read("a"), "then");
}

#[test]
fn a_person_reads_what_happened() {
    let project = Project::new("sqlite");
    project.write("a", "then");
    project.turn("one");
    project.write("a\u{1b}[2J", "hostile");
    project.write("a", "now");
    project.turn("two");
    let ran = project.run(&["rewind", "work", "--at", "turn:1", "--files"]);
    assert!(ran.out.contains("1 file written, 1 file removed"), "{ran:?}");
    assert!(!ran.out.contains('\u{1b}'), "{ran:?}");
    assert!(ran.err.contains("undo 1  take it back"), "{ran:?}");
    let plan = project.run(&["rewind", "work", "--at", "end", "--files", "--dry-run"]);
    assert!(plan.out.contains(r"a\u{1b}[2J"), "{plan:?}");
}
