//! Tests of `verify --repair`: the data that it saves, and the losses that it reports.

use serde_json::{Value, json};

use crate::sandbox::{Sandbox, ran};

/// Creates the session `plan-1` and its fork, which has own events. Then damages the store: runs
/// `sql` on its file.
fn damaged(sql: &str) -> Sandbox {
    let sandbox = Sandbox::with_a_plan();
    sandbox.ok(&["fork", "plan-1", "--id", "plan-b", "--at", "turn:1"]);
    sandbox.ok(&["append", "plan-b", "--text", "another way"]);
    rusqlite::Connection::open(sandbox.store()).unwrap().execute_batch(sql).unwrap();
    sandbox
}

/// Repairs the store into the new store `out` in the test's folder. Returns the exit code and the
/// JSON answer.
fn repair(sandbox: &Sandbox, out: &str) -> (i32, Value) {
    let ran = ran(sandbox.command(&["--json", "verify", "--repair", out]));
    (ran.code, serde_json::from_str(&ran.out).unwrap())
}

/// Returns the log of a session in the repaired store.
fn log(sandbox: &Sandbox, store: &str, session: &str) -> Vec<Value> {
    let out = sandbox.ok(&["--store", store, "--json", "log", session]);
    out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_sound_store_is_copied_into_any_other() {
    let sandbox = damaged("SELECT 1");
    let before = log(&sandbox, &format!("sqlite:{}", sandbox.store().display()), "plan-b");
    for out in ["saved.db", "sqlite:again.db", "files:saved"] {
        let (code, answer) = repair(&sandbox, out);
        assert_eq!((code, &answer["lost"], &answer["sessions"]), (0, &json!([]), &json!(2)));
        let store = answer["store"].as_str().unwrap();
        assert_eq!(log(&sandbox, store, "plan-b"), before, "{out}");
    }
}

#[test]
fn the_trash_is_copied_as_a_trash() {
    let sandbox = damaged("SELECT 1");
    sandbox.ok(&["fork", "plan-b", "--id", "plan-c", "--label", "gone"]);
    let before = sandbox.ok(&["--json", "log", "plan-b"]);
    sandbox.ok(&["delete", "plan-c", "--erase", "--yes"]);
    sandbox.ok(&["delete", "plan-1", "--cascade", "--yes"]);
    for out in ["sqlite:saved.db", "files:saved", "graph:graph"] {
        let (code, answer) = repair(&sandbox, out);
        assert_eq!((code, &answer["lost"], &answer["sessions"]), (0, &json!([]), &json!(2)));
        assert_eq!(sandbox.ok(&["--store", out, "list"]), "No sessions in this folder.\n", "{out}");
        let trash = sandbox.json(&["--store", out, "list", "--deleted"]);
        let ids: Vec<_> =
            trash["sessions"].as_array().unwrap().iter().map(|it| &it["id"]).collect();
        assert_eq!(ids.len(), 2, "{out}: {trash}");
        let back = sandbox.json(&["--store", out, "undelete", "plan-1", "--cascade"]);
        assert_eq!(back["undeleted"].as_array().unwrap().len(), 2, "{out}: {back}");
        assert_eq!(sandbox.ok(&["--store", out, "--json", "log", "plan-b"]), before, "{out}");
        assert_eq!(sandbox.error(&["--store", out, "undelete", "plan-c"]).0, 2, "{out}");
    }
}

#[test]
fn what_is_lost_is_named_and_the_rest_keeps_its_numbers() {
    let sandbox = damaged("UPDATE event SET payload = '{}' WHERE k = (SELECT min(k) FROM event)");
    let source = std::fs::read(sandbox.store()).unwrap();
    let (code, answer) = repair(&sandbox, "saved.db");
    assert_eq!(code, 6, "{answer}");
    let lost = answer["lost"].as_array().unwrap();
    let messages: Vec<_> =
        lost.iter().map(|one| (&one["what"], &one["session_id"], &one["seq"])).collect();
    assert_eq!(messages, [(&json!("data"), &json!("plan-1"), &json!(0))], "{answer}");
    let saved = log(&sandbox, "sqlite:saved.db", "plan-1");
    assert_eq!(saved[0]["type"], "x.lost");
    assert_eq!(saved[0]["class"], "conversation");
    assert_eq!(
        saved.iter().map(|line| line["seq"].clone()).collect::<Vec<_>>(),
        numbers(saved.len())
    );
    assert_eq!(std::fs::read(sandbox.store()).unwrap(), source, "the source was written");
    let sound = sandbox.run(&["--store", "sqlite:saved.db", "verify"]);
    assert_eq!(sound.code, 0, "{sound:?}");
}

fn numbers(count: usize) -> Vec<Value> {
    (0..count).map(|number| json!(number)).collect()
}

#[test]
fn a_store_of_an_unknown_kind_is_no_path() {
    let sandbox = damaged("SELECT 1");
    for out in ["sqllite:saved.db", "memory:"] {
        let (code, answer) = repair(&sandbox, out);
        assert_eq!((code, &answer["error"]["kind"]), (2, &json!("invalid_args")), "{out}");
    }
}

#[test]
fn nothing_is_ever_overwritten() {
    let sandbox = damaged("SELECT 1");
    let stored = sandbox.file("notes.txt", "my notes");
    let (code, error) = sandbox.error(&["verify", "--repair", "notes.txt"]);
    assert_eq!((code, &error["kind"]), (4, &json!("already_exists")), "{error}");
    assert_eq!(std::fs::read_to_string(stored).unwrap(), "my notes");
    let (code, error) = sandbox.error(&["verify", "--repair", "memory:"]);
    assert_eq!((code, &error["kind"]), (2, &json!("invalid_args")), "{error}");
}

#[test]
fn a_damaged_header_hides_no_other_session() {
    let sandbox = damaged("UPDATE session SET title = 'x' WHERE id = 'plan-b'");
    for verb in [&["list", "--all"][..], &["tree", "--all"], &["stats"], &["branches", "plan-1"]] {
        let ran = ran(sandbox.command(&[&["--json"], verb].concat()));
        let answer: Value = serde_json::from_str(&ran.out).unwrap();
        let failed = (ran.code, &answer["ok"], &answer["error"]["kind"]);
        assert_eq!(failed, (6, &json!(false), &json!("corrupt")), "{verb:?}: {answer}");
        assert_eq!(answer["problems"][0]["session_id"], "plan-b", "{verb:?}: {answer}");
        assert!(verb[0] == "stats" || ran.out.contains("plan-1"), "{verb:?}: {answer}");
    }
}

#[test]
fn damaged_sessions_are_counted_once_each() {
    let one = damaged("UPDATE session SET title = 'x' WHERE id = 'plan-b'");
    let two = damaged("UPDATE session SET title = 'x'");
    // This session is counted, but what its model calls cost is known in part only.
    let event = damaged("UPDATE event SET payload = '{}' WHERE k = (SELECT min(k) FROM event)");
    let [list, stats, models] = [&["list", "--all"][..], &["stats"], &["stats", "--models"]];
    let all = [list, stats, models];
    for (sandbox, sessions, verbs) in [
        (&one, "1 session is", &all[..]),
        (&two, "2 sessions are", &all),
        (&event, "1 session is", &[models]),
    ] {
        for verb in verbs {
            let listed = ran(sandbox.command(&[&["--json"], *verb].concat()));
            let answer: Value = serde_json::from_str(&listed.out).unwrap();
            let problems = answer["problems"].as_array().unwrap();
            let printed = sandbox.run(verb);
            let message = problems[0]["message"].as_str().unwrap();
            let expected = format!(
                "{sessions} damaged, and the answer leaves out what cannot be read: {message}"
            );
            let line = printed.err.lines().find(|line| line.contains("damaged, and"));
            assert_eq!((printed.code, line), (6, Some(&*expected)), "{verb:?}");
            let count = sessions.split_once(' ').unwrap().0;
            assert_eq!(problems.len().to_string(), count, "{verb:?}: {answer}");
        }
    }
}
