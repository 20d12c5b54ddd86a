//! Tests of `backup`, and of `restore` from a backup.

use serde_json::json;

use crate::sandbox::{FILTERS, Sandbox, snapshot};

/// Creates a store with the session `plan-1`, a fork of it and an attachment.
fn family() -> Sandbox {
    let sandbox = Sandbox::with_a_plan();
    sandbox.file("plan.md", "the plan");
    sandbox.ok(&["attach", "plan-1", "plan.md"]);
    sandbox.ok(&["fork", "plan-1", "--at", "turn:1", "--id", "plan-b"]);
    sandbox
}

#[test]
fn a_backup_is_a_store_and_becomes_one_again() {
    let sandbox = family();
    let logs = |store: &str| {
        ["plan-1", "plan-b"].map(|id| sandbox.ok(&["--store", store, "--json", "log", id]))
    };
    let first = format!("sqlite:{}", sandbox.store().display());
    let before = logs(&first);
    sandbox.ok(&["--store", &first, "verify", "--repair", "files:sessions"]);
    sandbox.ok(&["--store", &first, "verify", "--repair", "graph:graph"]);
    for (store, backup, new) in [
        (&*first, "saved.db", "sqlite:new/again.db"),
        ("files:sessions", "saved", "files:new/again"),
        ("graph:graph", "saved-graph", "graph:new/again-graph"),
    ] {
        let answer = sandbox.json(&["--store", store, "backup", backup]);
        assert_eq!(answer["sessions"], 2, "{answer}");
        assert_eq!(logs(answer["store"].as_str().unwrap()), before, "{store}");
        sandbox.ok(&["append", "plan-1", "--text", "later"]);
        let restored = sandbox.json(&["--store", new, "restore", backup]);
        assert_eq!(
            (&restored["sessions"], &restored["events"]),
            (&answer["sessions"], &answer["events"])
        );
        assert_eq!(logs(new), before, "{store}");
        let attached = sandbox.json(&["--store", new, "attach", "plan-1"]);
        assert_eq!(attached["attachments"][0]["missing"], json!(null), "{attached}");
        sandbox.ok(&["--store", new, "verify"]);
        sandbox.ok(&["--store", new, "append", "plan-1", "--text", "and on"]);
    }
}

#[test]
fn nothing_is_overwritten_and_no_other_kind_is_made() {
    let sandbox = family();
    sandbox.file("notes.txt", "my notes");
    let refused = |words: &[&str]| {
        let (code, error) = sandbox.error(words);
        (code, error["kind"].as_str().unwrap().to_owned())
    };
    let exists = (4, "already_exists".to_owned());
    assert_eq!(refused(&["backup", "notes.txt"]), exists);
    assert_eq!(std::fs::read_to_string(sandbox.path().join("notes.txt")).unwrap(), "my notes");
    sandbox.ok(&["backup", "saved.db"]);
    assert_eq!(refused(&["backup", "saved.db"]), exists);
    assert_eq!(refused(&["restore", "saved.db"]), exists);
    let invalid = (2, "invalid_args".to_owned());
    assert_eq!(refused(&["--store", "files:new", "restore", "saved.db"]), invalid);
    let not_found = (2, "not_found".to_owned());
    assert_eq!(refused(&["--store", "sqlite:new.db", "restore", "./nothing.db"]), not_found);
    assert_eq!(refused(&["--store", "sqlite:no.db", "backup", "other.db"]), not_found);
    assert_eq!(refused(&["backup", "no/folder/saved.db"]), not_found);
    // A WAL of another store would become a part of the restored one.
    sandbox.file("new.db-wal", "changes of a store that is gone");
    assert_eq!(refused(&["--store", "sqlite:new.db", "restore", "saved.db"]), exists);
    let names = std::fs::read_dir(sandbox.path()).unwrap();
    let left = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert_eq!(left.filter(|name| name.contains("unfinished")).count(), 0);
}

#[test]
fn stores_that_other_tools_copy_are_refused() {
    let sandbox = Sandbox::new();
    for store in ["postgres://nobody@127.0.0.1:1/team", "memory:"] {
        let (code, error) = sandbox.error(&["--store", store, "backup", "saved"]);
        assert_eq!((code, &error["kind"]), (5, &json!("unsupported")), "{error}");
        let is_named = error["message"].as_str().unwrap().contains("pg_basebackup");
        assert_eq!(is_named, store != "memory:", "{error}");
    }
}

#[test]
fn a_damaged_store_gives_no_backup() {
    let sandbox = family();
    let sql = "UPDATE event SET payload = '{}' WHERE k = (SELECT min(k) FROM event)";
    rusqlite::Connection::open(sandbox.store()).unwrap().execute_batch(sql).unwrap();
    let (code, error) = sandbox.error(&["backup", "saved.db"]);
    assert_eq!((code, &error["kind"]), (6, &json!("corrupt")), "{error}");
    for name in ["saved.db", "saved.db-attachments", ".saved.db.unfinished"] {
        assert!(!sandbox.path().join(name).exists(), "{name}");
    }
}

#[test]
fn people_read_what_was_copied_and_what_to_do_next() {
    let sandbox = family();
    let mut text = String::new();
    for words in [
        &["backup", "saved.db"][..],
        &["backup", "saved.db"],
        &["--store", "sqlite:new.db", "restore", "saved.db"],
        &["--store", "files:new", "restore", "saved.db"],
        &["backup", "no/folder/saved.db"],
    ] {
        let ran = sandbox.run(words);
        text += &format!("$ forklore {}\n{}{}", words.join(" "), ran.out, ran.err);
        text += &format!("=> {}\n\n", ran.code);
    }
    let text = text.replace(sandbox.path().to_str().unwrap(), "[dir]");
    insta::with_settings!({ omit_expression => true, filters => [&[(r"\d+\.\d kB\b", "[size]")], FILTERS].concat() }, {
        insta::assert_snapshot!(text);
    });
    snapshot!(sandbox.ok(&["backup", "--help"]));
}
