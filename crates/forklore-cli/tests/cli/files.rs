//! Tests of reading and writing files: `import`, `restore`, `export`, and paths of files as
//! references to sessions.

use serde_json::json;

use crate::sandbox::{Sandbox, snapshot};

const CHAT: &str = "{\"role\":\"user\",\"content\":\"plan A or plan B?\"}
{\"role\":\"assistant\",\"content\":\"Plan B.\"}
{\"role\":\"user\",\"content\":\"Why?\"}
{\"role\":\"assistant\",\"content\":\"It is cheap.\"}
";

#[test]
fn a_session_file_is_forked_where_a_session_is_named() {
    let sandbox = Sandbox::new();
    sandbox.file("chat.jsonl", CHAT);
    let forked = sandbox.run(&["fork", "./chat.jsonl", "--at", "turn:1", "--id", "plan-b"]);
    assert_eq!(forked.code, 0, "{forked:?}");
    let again = sandbox.json(&["show", "./chat.jsonl"]);
    assert_eq!(again["session"]["head_index"], 4);
    assert_eq!(sandbox.json(&["list"])["sessions"].as_array().unwrap().len(), 2);
    snapshot!(format!(
        "{}{}---\n{}",
        forked.out,
        forked.err,
        sandbox.ok(&["diff", "./chat.jsonl", "plan-b"])
    ));
}

#[test]
fn growth_is_read_and_no_second_copy_made() {
    let sandbox = Sandbox::new();
    let path = sandbox.file("chat.jsonl", CHAT);
    let first = sandbox.json(&["import", "chat.jsonl"]);
    let same = sandbox.json(&["import", "chat.jsonl"]);
    let grown = format!("{CHAT}{{\"role\":\"user\",\"content\":\"Fine.\"}}\n");
    std::fs::write(&path, grown).unwrap();
    let more = sandbox.json(&["import", "chat.jsonl"]);
    let appended = [&first, &same, &more].map(|answer| answer["sessions"][0]["appended"].as_u64());
    assert_eq!(appended, [Some(4), Some(0), Some(1)]);
    assert_eq!(more["sessions"][0]["session_id"], first["sessions"][0]["session_id"]);
}

#[test]
fn an_import_closes_with_a_table() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.path().join("chats")).unwrap();
    sandbox.file("chats/one.jsonl", CHAT);
    sandbox.file("chats/two.jsonl", &format!("{}{{\"role\":\"us", CHAT.replace("cheap", "dear")));
    // The messages have no timestamps, so the modification times of the files determine the order
    // of import.
    let earlier = std::time::SystemTime::now() - std::time::Duration::from_secs(5);
    let two = std::fs::File::options().write(true).open(sandbox.path().join("chats/two.jsonl"));
    two.unwrap().set_modified(earlier).unwrap();
    sandbox.file("chats/notes.txt", "nothing of an agent\n");
    let reported = sandbox.run(&["import", "chats"]);
    snapshot!(format!("{}{}---\n{}", reported.out, reported.err, sandbox.ok(&["list"])));
}

#[test]
fn what_no_agent_wrote_is_not_imported() {
    let sandbox = Sandbox::new();
    sandbox.file("notes.txt", "nothing of an agent\n");
    let (code, error) = sandbox.error(&["show", "./notes.txt"]);
    assert_eq!((code, &error["kind"]), (2, &json!("invalid_args")));
    let (code, error) = sandbox.error(&["import", "notes.txt"]);
    let found = (code, &error["kind"], &error["details"]["count"]);
    assert_eq!(found, (2, &json!("invalid_args"), &json!(1)));
    let (code, error) = sandbox.error(&["import", "gone"]);
    assert_eq!((code, &error["kind"]), (2, &json!("not_found")));
    let (code, error) = sandbox.error(&["import", "notes.txt", "--from", "nobody"]);
    assert_eq!((code, &error["kind"]), (2, &json!("invalid_args")));
}

#[test]
fn a_named_path_without_a_session_fails_though_others_are_imported() {
    let sandbox = Sandbox::new();
    sandbox.file("chat.jsonl", CHAT);
    sandbox.file("notes.jsonl", "{\"what\":\"nothing of an agent\"}\n");
    std::fs::create_dir(sandbox.path().join("notes")).unwrap();
    sandbox.file("notes/one.jsonl", "{\"what\":\"nothing of an agent\"}\n");
    let unknown = "no records of a known agent are in the file; known are pi, codex, claude, qwen, \
                   droid, gemini, opencode, amplifier, ak-coder, pixir, plain";
    for (named, kind, reason) in [
        ("gone", "not_found", "No such file or directory (os error 2)"),
        ("notes.jsonl", "invalid_args", unknown),
        ("notes", "invalid_args", unknown),
    ] {
        let answer = sandbox.run(&["--json", "import", named, "chat.jsonl"]);
        let json: serde_json::Value = serde_json::from_str(&answer.out).unwrap();
        let (ok, error) = (&json["ok"], &json["error"]);
        assert_eq!((answer.code, ok, &error["kind"]), (2, &json!(false), &json!(kind)), "{json}");
        let message = error["message"].as_str().unwrap();
        assert!(message.starts_with("1 of the 2 named paths gave no session: "), "{message}");
        assert!(message.ends_with(reason), "{message}");
        assert_eq!((&json["files"], &error["details"]["count"]), (&json!(1), &json!(1)));
        // Users get the report, and then the error.
        let people = sandbox.run(&["import", named, "chat.jsonl"]);
        assert_eq!(people.code, 2);
        assert!(people.out.starts_with("Nothing new in 1 file "), "{}", people.out);
        assert!(people.err.contains(reason), "{}", people.err);
    }
    // A folder with sessions may have other files too, and an empty folder is no failure.
    std::fs::create_dir(sandbox.path().join("empty")).unwrap();
    sandbox.file("notes/chat.jsonl", CHAT);
    let answer = sandbox.json(&["import", "notes", "empty", "chat.jsonl"]);
    assert_eq!((&answer["files"], &answer["skipped"]), (&json!(2), &json!(1)));
    // The other files are named, the first 20 of them.
    let one = sandbox.path().canonicalize().unwrap().join("notes/one.jsonl");
    let named = json!([{"path": one, "kind": "unknown_format",
        "message": unknown}]);
    assert_eq!((&answer["passed_over"], &answer["problems"]), (&named, &json!([])));
    let people = sandbox.run(&["import", "notes"]);
    let expected = format!("passed over:\n  {}: {unknown}", one.display());
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words(&people.out).ends_with(&words(&expected)), "{}", people.out);
    for number in 0..30 {
        sandbox.file(&format!("notes/stray-{number}.jsonl"), "{\"what\":\"a stray\"}\n");
    }
    let answer = sandbox.json(&["import", "notes"]);
    let named = answer["passed_over"].as_array().unwrap().len();
    assert_eq!((&answer["skipped"], named), (&json!(31), 20));
    assert!(sandbox.run(&["import", "notes"]).out.contains("passed over, the first of them:"));
}

#[test]
fn a_file_without_a_session_says_why() {
    let sandbox = Sandbox::new();
    let store = sandbox.store();
    sandbox.ok(&["new"]);
    let foreign = sandbox.path().join("foreign.db");
    let database = rusqlite::Connection::open(&foreign).unwrap();
    database.execute_batch("CREATE TABLE session (id, name); CREATE TABLE other (x);").unwrap();
    drop(database);
    sandbox.file("empty.jsonl", "");
    sandbox.file("torn.jsonl", "{\"type\":\"user\",\"uu");
    sandbox.file("sides.jsonl", "{\"type\":\"file-history-snapshot\",\"messageId\":\"m\"}\n");
    for (words, reason) in [
        (&["empty.jsonl"][..], "the file is empty"),
        (&["torn.jsonl", "--from", "claude"], "the last line is not whole; it waits"),
        (&["sides.jsonl", "--from", "claude"], "no session is in the file"),
        (
            &["foreign.db"],
            "the database is that of another program (its tables are \"session\", \"other\"); of \
             databases, only opencode's is supported",
        ),
        (&[store.to_str().unwrap()], "the database is a store of forklore, not an agent's file"),
    ] {
        let (code, error) = sandbox.error(&[&["import"], words].concat());
        let message = error["message"].as_str().unwrap();
        assert!(code == 2 && message.ends_with(reason), "{code} {message}");
    }
}

#[test]
fn a_session_written_for_gemini_keeps_its_folder() {
    let sandbox = Sandbox::with_a_plan();
    let folder = sandbox.path().join("elsewhere");
    std::fs::create_dir(&folder).unwrap();
    let folder = folder.to_str().unwrap();
    let words = ["resume-in", "gemini", "plan-1", "--into-workspace", folder];
    let written = sandbox.json(&words);
    let imported = sandbox.json(&["import", written["path"].as_str().unwrap()]);
    let id = imported["sessions"][0]["session_id"].as_str().unwrap();
    assert_eq!(sandbox.json(&["show", id, "--all"])["session"]["workspace"], folder);
}

#[test]
fn restore_gives_the_file_back_and_overwrites_nothing() {
    let sandbox = Sandbox::new();
    sandbox.file("chat.jsonl", CHAT);
    sandbox.ok(&["import", "chat.jsonl"]);
    assert_eq!(sandbox.ok(&["restore", "last"]), CHAT);
    let answer = sandbox.json(&["restore", "last", "-o", "again.jsonl"]);
    assert_eq!((&answer["path"], &answer["bytes"]), (&json!("again.jsonl"), &json!(CHAT.len())));
    assert_eq!(std::fs::read_to_string(sandbox.path().join("again.jsonl")).unwrap(), CHAT);
    let (code, error) = sandbox.error(&["restore", "last", "-o", "chat.jsonl"]);
    assert_eq!((code, &error["kind"]), (4, &json!("already_exists")));
    sandbox.file("chat.jsonl", "changed");
    sandbox.ok(&["restore", "last", "-o", "chat.jsonl", "--force"]);
    assert_eq!(std::fs::read_to_string(sandbox.path().join("chat.jsonl")).unwrap(), CHAT);
    // An unfinished last line is a part of the file.
    let torn = format!("{CHAT}{{\"role\":\"us");
    sandbox.file("torn.jsonl", &torn);
    let read = sandbox.json(&["import", "torn.jsonl"]);
    let id = read["sessions"][0]["session_id"].as_str().unwrap();
    assert_eq!(sandbox.ok(&["restore", id]), torn);
}

#[test]
fn export_writes_plain_messages_and_says_what_is_left_out() {
    let sandbox = Sandbox::with_a_plan();
    let lines = sandbox.ok(&["export", "plan-1", "--to", "plain"]);
    let answer = sandbox.json(&["export", "plan-1", "--to", "plain", "-o", "plan.jsonl"]);
    assert_eq!(std::fs::read_to_string(sandbox.path().join("plan.jsonl")).unwrap(), lines);
    assert_eq!(
        answer,
        json!({"ok": true, "path": "plan.jsonl", "events": 6, "lossy": [{"type": "provider_usage", "count": 1}]})
    );
    let (code, error) = sandbox.error(&["export", "plan-1", "--to", "plain", "-o", "plan.jsonl"]);
    assert_eq!((code, &error["kind"]), (4, &json!("already_exists")));
    snapshot!(format!(
        "{lines}---\n{}",
        sandbox.ok(&["export", "plan-1", "--to", "plain", "-o", "b.jsonl"])
    ));
}

#[cfg(unix)]
#[test]
fn what_is_written_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::with_a_plan();
    sandbox.ok(&["export", "plan-1", "--to", "plain", "-o", "plan.jsonl"]);
    let mut command = sandbox.command(&["new"]);
    command.env_remove("FORKLORE_STORE");
    assert_eq!(crate::sandbox::ran(command).code, 0);
    let mode = |path: &str| {
        std::fs::metadata(sandbox.path().join(path)).unwrap().permissions().mode() & 0o777
    };
    assert_eq!(mode("plan.jsonl"), 0o600);
    assert_eq!(mode("home/.local/share/forklore"), 0o700);
    assert_eq!(mode("home/.local/share/forklore/sessions.db"), 0o600);
}

/// Forks the session file of the README's first example. A real Pi wrote the file, and it has
/// branches.
#[test]
fn a_file_with_branches_means_the_one_its_agent_would_resume() {
    let sandbox = Sandbox::new();
    let demo = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/pi/demo.jsonl");
    let people = sandbox.run(&["fork", demo, "--at", "turn:2", "--id", "plan-b"]);
    assert_eq!(people.code, 0, "{people:?}");
    assert!(people.out.contains("   └─ ") && people.out.contains("new"), "{}", people.out);
    assert_eq!(people.err.lines().filter(|line| line.starts_with("  next: forklore ")).count(), 2);
    assert!(people.err.starts_with("the file holds 2 other sessions"), "{}", people.err);
    let answer = sandbox.json(&["show", demo]);
    let also = answer["also"].as_array().unwrap();
    assert!(also.len() == 2 && !also.contains(&answer["session"]["id"]));
    assert_eq!(sandbox.json(&["show", "plan-b"])["session"]["parent_id"], answer["session"]["id"]);
    let original = std::fs::read_to_string(demo).unwrap();
    assert_eq!(sandbox.ok(&["restore", answer["session"]["id"].as_str().unwrap()]), original);
}
