//! Tests of `gc --policy` and of `verify --sample`.

use serde_json::{Value, json};

use crate::sandbox::{Ran, Sandbox, WORKSPACE, ran};

/// Runs a command with a configuration that has this text.
fn with_config(sandbox: &Sandbox, config: &str, words: &[&str]) -> Ran {
    let path = sandbox.file("config.toml", config);
    let mut command = sandbox.command(&[&["--workspace", WORKSPACE], words].concat());
    command.env("FORKLORE_CONFIG", path);
    ran(command)
}

fn json_of(ran: &Ran) -> Value {
    serde_json::from_str(ran.out.lines().last().unwrap()).unwrap()
}

/// Creates a store with a new session and a family that was last written to long ago.
fn old_and_new() -> Sandbox {
    let sandbox = Sandbox::with_a_plan();
    let demo = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/pi/demo.jsonl");
    let demo = std::fs::read_to_string(demo).unwrap().replace("2026-", "2020-");
    sandbox.file("demo.jsonl", &demo);
    sandbox.ok(&["import", "demo.jsonl"]);
    sandbox
}

#[test]
fn a_policy_is_needed_and_checked() {
    let sandbox = Sandbox::with_a_plan();
    let none = with_config(&sandbox, "", &["--json", "gc", "--policy"]);
    let error = json_of(&none)["error"].clone();
    assert_eq!((none.code, &error["kind"]), (2, &json!("invalid_args")), "{error}");
    for wrong in ["delete_after_days = 0", "delete_after_days = \"x\"", "delete_after = 3"] {
        let config = format!("[retention]\n{wrong}\n");
        let refused = with_config(&sandbox, &config, &["--json", "gc", "--policy"]);
        assert_eq!(refused.code, 2, "{wrong}: {refused:?}");
    }
    assert_eq!(sandbox.error(&["gc", "--dry-run"]).0, 2);
    assert_eq!(sandbox.error(&["gc", "--policy", "--now"]).0, 2);
}

#[test]
fn a_plan_lists_what_goes_and_the_policy_does_it() {
    let sandbox = old_and_new();
    let config = "[retention]\ndelete_after_days = 365\n";
    let planned = with_config(&sandbox, config, &["--json", "gc", "--policy", "--dry-run"]);
    let planned = json_of(&planned);
    let old = planned["deleted"].as_array().unwrap().len();
    assert_eq!((old, &planned["dry_run"]), (3, &json!(true)), "{planned}");
    let people = with_config(&sandbox, config, &["gc", "--policy", "--dry-run"]);
    let done = json_of(&with_config(&sandbox, config, &["--json", "gc", "--policy", "--yes"]));
    assert_eq!((&done["deleted"], &done["erased"]), (&planned["deleted"], &planned["erased"]));
    let again = json_of(&with_config(&sandbox, config, &["--json", "gc", "--policy", "--yes"]));
    assert_eq!(again["deleted"], json!([]), "{again}");
    let rows: Vec<_> = people.out.lines().filter(|line| line.contains(" would go into")).collect();
    assert_eq!(rows.len(), 3, "{people:?}");
    assert!(rows.iter().all(|row| row.contains("last changed 2020-")), "{rows:?}");
    assert!(people.err.contains("next: forklore gc --policy"), "{people:?}");
}

#[test]
fn a_sample_names_its_seed_and_what_is_damaged() {
    let sandbox = Sandbox::with_a_plan();
    sandbox.ok(&["fork", "plan-1", "--id", "plan-b"]);
    let all = sandbox.json(&["verify", "--sample", "100%"]);
    assert_eq!((&all["sessions"], &all["of"]), (&json!(2), &json!(2)), "{all}");
    let seed = all["seed"].to_string();
    assert_eq!(sandbox.json(&["verify", "--sample", "100%", "--seed", &seed]), all);
    let out = sandbox.ok(&["verify", "--sample", "1", "--seed", "42"]);
    assert!(out.starts_with("All is well in a sample: 1 of 2 sessions, "), "{out}");
    assert!(out.ends_with("  seed 42\n"), "{out}");
    for wrong in ["0", "101%", "few"] {
        assert_eq!(sandbox.error(&["verify", "--sample", wrong]).0, 2, "{wrong}");
    }
    let sql = "UPDATE event SET payload = '{}' WHERE k = (SELECT min(k) FROM event)";
    rusqlite::Connection::open(sandbox.store()).unwrap().execute_batch(sql).unwrap();
    let damaged = ran(sandbox.command(&["--json", "verify", "--sample", "100%"]));
    let answer = json_of(&damaged);
    assert_eq!((damaged.code, &answer["ok"]), (6, &json!(false)), "{answer}");
    assert_eq!(answer["problems"][0]["kind"], "corrupt", "{answer}");
}
