//! Tests of `redact`: no answer and, after a gc, no file has what was taken away.

use std::fs;

use serde_json::{Value, json};

use crate::sandbox::{Ran, Sandbox};
use crate::trash::contains;

const SECRET: &str = "sk-live-the-launch-code-0451";

/// A conversation of Pi, with the secret in two of its records.
fn conversation() -> String {
    let lines = [
        json!({"type": "session", "version": 3, "id": "of-pi", "timestamp": "2026-03-01T10:00:00.000Z", "cwd": "/work/pi"}),
        json!({"type": "message", "id": "00000001", "parentId": null, "timestamp": "2026-03-01T10:00:01.000Z",
            "message": {"role": "user", "content": format!("use the key {SECRET} please"), "timestamp": 1772359201000_u64}}),
        json!({"type": "message", "id": "00000002", "parentId": "00000001", "timestamp": "2026-03-01T10:00:02.000Z",
            "message": {"role": "assistant", "content": [{"type": "text", "text": "done"}], "api": "a", "provider": "p", "model": "m",
                "usage": {"input": 1, "output": 1, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 2,
                    "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0}},
                "stopReason": "stop", "timestamp": 1772359202000_u64}}),
    ];
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// An environment with a store of one kind.
struct At<'s> {
    sandbox: &'s Sandbox,
    store: &'s str,
}

impl At<'_> {
    fn words<'w>(&'w self, words: &[&'w str]) -> Vec<&'w str> {
        [&["--store", self.store], words].concat()
    }

    fn run(&self, words: &[&str]) -> Ran {
        self.sandbox.run(&self.words(words))
    }

    fn ok(&self, words: &[&str]) -> String {
        self.sandbox.ok(&self.words(words))
    }

    fn json(&self, words: &[&str]) -> Value {
        self.sandbox.json(&self.words(words))
    }

    fn error(&self, words: &[&str]) -> (i32, Value) {
        self.sandbox.error(&self.words(words))
    }
}

/// All answers that could contain what was taken away.
fn answers(sandbox: &At<'_>) -> String {
    let mut all = String::new();
    let mut add = |words: &[&str]| {
        let ran = sandbox.run(words);
        all.push_str(&format!("$ {}\n{}{}", words.join(" "), ran.out, ran.err));
    };
    let listed = sandbox.json(&["list", "--all"]);
    let ids = listed["sessions"].as_array().unwrap().iter();
    let ids: Vec<_> = ids.map(|it| it["id"].as_str().unwrap().to_owned()).collect();
    for id in &ids {
        for verb in ["show", "log", "replay", "inspect", "tree", "lineage"] {
            add(&["--json", verb, id]);
        }
        add(&["replay", id]);
        add(&["export", id, "--to", "plain"]);
        add(&["graph", id]);
    }
    add(&["list", "--all"]);
    add(&["search", "launch", "--all"]);
    add(&["op", "log"]);
    add(&["verify"]);
    all
}

#[test]
fn no_answer_and_no_file_has_it_afterwards() {
    for store in ["sqlite:store.db", "files:store", "graph:store"] {
        let folder = Sandbox::new();
        folder.file("pi.jsonl", &conversation());
        let sandbox = At { sandbox: &folder, store };
        sandbox.ok(&["import", "pi.jsonl"]);
        sandbox.ok(&["new", "--id", "a", "--title", &format!("about {SECRET}")]);
        sandbox.ok(&["append", "a", "--text", &format!("here is {SECRET}, keep it")]);
        sandbox.ok(&["append", "a", "--text", "another question"]);
        sandbox.ok(&["fork", "a", "--id", "b", "--label", "shared", "--summarize"]);
        sandbox.ok(&["fork", "a", "--id", "c", "--label", "copied", "--strategy", "replay_v1"]);
        sandbox.ok(&["fork", "of-pi", "--id", "d", "--label", "of-pi"]);
        sandbox.ok(&["detach", "d"]);
        assert!(answers(&sandbox).contains(SECRET));

        let before = sandbox.json(&["show", "c"])["session"].clone();
        let redact = ["redact", "a", "of-pi", "--match", SECRET, "--reason", "a key"];
        let plan = sandbox.json(&[&redact[..], &["--dry-run"]].concat());
        assert!(answers(&sandbox).contains(SECRET), "a dry run changes nothing");
        let done = sandbox.json(&[&redact[..], &["--yes"]].concat());
        let (operation, events) = (&done["operation"], done["events"].as_array().unwrap());
        assert!(operation.is_number(), "{done}");
        assert_eq!(
            (&plan["events"], &plan["titles"], &plan["files"]),
            (&done["events"], &done["titles"], &done["files"])
        );
        let found = |session: &str, why: &str| {
            events.iter().any(|it| it["session_id"] == session && it["why"] == why)
        };
        assert!(found("a", "matched") && found("of-pi", "matched"), "{done}");
        assert!(found("b", "quote") && !found("c", "copy"), "{done}");
        assert!(done["titles"].as_array().unwrap().contains(&json!("a")), "{done}");
        assert_eq!(done["files"].as_array().unwrap().len(), 1);
        let after = answers(&sandbox);
        assert!(!after.contains(SECRET), "{store}: {after}");
        assert!(after.contains("a key"), "{after}");
        assert_eq!(sandbox.json(&["show", "c"])["session"], before);
        let (code, error) = sandbox.error(&["restore", "of-pi", "-o", "back.jsonl"]);
        assert_eq!(
            (code, &error["kind"], &error["details"]["reason"]),
            (4, &json!("conflict"), &json!("a key"))
        );
        let again = sandbox.json(&[&redact[..], &["--yes"]].concat());
        assert_eq!((&again["events"], &again["operation"]), (&json!([]), &Value::Null));

        sandbox.ok(&["gc"]);
        fs::remove_file(folder.path().join("pi.jsonl")).unwrap();
        assert!(!contains(folder.path(), SECRET.as_bytes()), "{store}");
        sandbox.ok(&["verify"]);
        sandbox.ok(&["append", "c", "--text", "and on"]);
    }
}

#[test]
fn a_store_that_pulls_gets_it_and_none_brings_it_back() {
    for (mine, there) in [("sqlite:store.db", "files:there"), ("files:store", "sqlite:there.db")] {
        let folder = Sandbox::new();
        let sandbox = At { sandbox: &folder, store: mine };
        sandbox.ok(&["new", "--id", "a"]);
        sandbox.ok(&["append", "a", "--text", &format!("here is {SECRET}, keep it")]);
        sandbox.ok(&["append", "a", "--text", "another question"]);
        sandbox.ok(&["fork", "a", "--id", "b", "--label", "shared"]);
        sandbox.ok(&["push", "--all", there]);
        sandbox.ok(&["append", "b", "--text", "and on"]);
        folder.ok(&["--store", there, "redact", "a:0", "--reason", "a key", "--yes"]);
        // The older copy does not bring it back, and what is new there crosses.
        let pushed = sandbox.json(&["push", "--all", there]);
        assert_eq!(
            (&pushed["events"], &pushed["redacted"], &pushed["skipped"]),
            (&json!(1), &json!(0), &json!([]))
        );
        let log = |store: &str, id: &str| folder.run(&["--store", store, "log", "--json", id]).out;
        assert!(!log(there, "a").contains(SECRET) && log(mine, "a").contains(SECRET));
        let pulled = sandbox.json(&["pull", "--all", there]);
        assert_eq!((&pulled["events"], &pulled["redacted"]), (&json!(0), &json!(1)), "{pulled}");
        for id in ["a", "b"] {
            assert_eq!(log(mine, id), log(there, id));
            assert!(!log(mine, id).contains(SECRET));
        }
        assert_eq!(sandbox.json(&["pull", "--all", there])["redacted"], 0);
        for store in [mine, there] {
            folder.ok(&["--store", store, "gc"]);
            folder.ok(&["--store", store, "verify"]);
        }
        assert!(!contains(folder.path(), SECRET.as_bytes()));
    }
}

#[test]
fn bad_input_is_refused() {
    let sandbox = Sandbox::with_a_plan();
    for (words, reason) in [
        (&["plan-1", "--match", "x", "--reason", " "][..], "reason"),
        (&["plan-1", "--match", "plan", "--reason", "the plan"], "reason"),
        (&["plan-1", "--match", "", "--reason", "r"], "match"),
        (&["plan-1", "--regex", "(", "--reason", "r"], "match"),
        (&["plan-1", "--regex", "x*", "--reason", "r"], "match"),
        (&["plan-1:99", "--reason", "r"], "no_event"),
        (&["no-such-event", "--reason", "r"], "no_event"),
    ] {
        let words = [&["redact"][..], words].concat();
        let (code, error) = sandbox.error(&words);
        assert_eq!((code, &error["kind"]), (2, &json!("invalid_args")), "{words:?}: {error}");
        assert_eq!(error["details"]["reason"], *reason, "{words:?}");
    }
    let (code, error) = sandbox.error(&["redact", "nobody", "--match", "x", "--reason", "r"]);
    assert_eq!((code, &error["kind"]), (2, &json!("not_found")));
    let (code, _) = sandbox.error(&["redact", "nobody:3", "--reason", "r"]);
    assert_eq!(code, 2);
    let nothing = sandbox.ok(&["redact", "plan-1", "--match", "nowhere", "--reason", "r"]);
    assert!(nothing.starts_with("Nothing to redact"), "{nothing}");
    assert_eq!(
        sandbox.json(&["redact", "plan-1", "--match", "nowhere", "--reason", "r"])["events"],
        json!([])
    );
}
