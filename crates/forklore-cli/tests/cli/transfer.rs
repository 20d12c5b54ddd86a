//! Tests of `push`, `pull`, `clone`, `handoff` and `remote`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use forklore_pgserver::Tenant;
use serde_json::{Value, json};

use crate::sandbox::{Sandbox, of, snapshot};

fn testdata(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(name);
    path.to_str().unwrap().to_owned()
}

/// Returns everything that a store has: the log of each session, and the bytes of each imported
/// file by its name.
fn everything(sandbox: &Sandbox, store: &str) -> (BTreeMap<String, String>, Vec<Vec<u8>>) {
    let list = sandbox.json(&["--store", store, "list", "--all", "--limit", "1000"]);
    let ids = list["sessions"].as_array().unwrap().iter();
    let ids: Vec<_> = ids.map(|session| session["id"].as_str().unwrap().to_owned()).collect();
    let log = |id: String| {
        let log = sandbox.ok(&["--store", store, "log", &id, "--json"]);
        (id, log)
    };
    let out = sandbox.path().join("restored");
    let mut restored = Vec::new();
    for id in &ids {
        let words = ["--store", store, "restore", id, "--all", "-o", out.to_str().unwrap()];
        let ran = sandbox.run(&words);
        assert!(ran.code == 0 || ran.err.contains("was not read from a file"), "{ran:?}");
        if out.is_dir() {
            restored.extend(files(&out).iter().map(|path| fs::read(path).unwrap()));
            fs::remove_dir_all(&out).unwrap();
        }
    }
    restored.sort();
    (ids.into_iter().map(log).collect(), restored)
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

fn url(kind: &str, folder: &Sandbox, name: &str) -> String {
    format!("{kind}:{}", folder.path().join(name).display())
}

#[test]
fn everything_goes_through_a_shared_store_to_another_machine_and_back() {
    let (laptop, other) = (Sandbox::with_a_plan(), Sandbox::new());
    let tenant = Tenant::fresh().unwrap();
    let tier = tenant.url();
    for agent in ["codex/home", "claude/projects", "pi/v2"] {
        laptop.ok(&["import", &testdata(agent)]);
    }
    let notes = laptop.file("notes.bin", "bytes \u{0} of a file");
    laptop.ok(&["attach", "plan-1", notes.to_str().unwrap()]);
    let pushed = laptop.json(&["push", "--all", &tier]);
    assert_eq!((&pushed["skipped"], &pushed["attachments"]), (&json!([]), &json!(1)));

    let here = url("files", &other, "copy");
    let cloned = other.json(&["--store", &here, "clone", &tier]);
    assert_eq!((&cloned["events"], &cloned["skipped"]), (&pushed["events"], &json!([])));
    let mine = url("sqlite", &laptop, "store.db");
    assert_eq!(everything(&laptop, &mine), everything(&other, &here));

    // Both machines go on: one in a session of its own, both in the plan.
    laptop.ok(&["append", "plan-1", "--text", "on the laptop"]);
    other.ok(&["--store", &here, "append", "plan-1", "--text", "elsewhere"]);
    other.ok(&["--store", &here, "fork", "plan-1", "--at", "turn:1", "--id", "idea"]);
    other.ok(&["--store", &here, "append", "idea", "--text", "another idea"]);
    other.ok(&["--store", &here, "push", "--all", &tier]);
    let pulled = laptop.json(&["pull", &tier]);
    assert_eq!(states(&pulled), ["plan-1 parted", "idea created"]);
    laptop.ok(&["push", "--all", &tier]);
    other.ok(&["--store", &here, "pull", &tier]);

    let texts = |sandbox: &Sandbox, store: &str| {
        let (logs, files) = everything(sandbox, store);
        let last = |log: &String| {
            let last: Value = serde_json::from_str(log.lines().last().unwrap()).unwrap();
            last["data"]["content"].to_string()
        };
        let mut lasts: Vec<_> = logs.values().map(last).collect();
        lasts.sort();
        (lasts, files)
    };
    let both = texts(&laptop, &mine);
    assert_eq!(both, texts(&other, &here));
    assert_eq!(both, texts(&laptop, &tier));
    for text in ["\"on the laptop\"", "\"elsewhere\"", "\"another idea\""] {
        assert!(both.0.iter().any(|last| last == text), "{text}");
    }
    let read = ["attach", "plan-1", "--get", "notes.bin", "-o", "notes"];
    other.ok(&[&["--store", &here], &read[..]].concat());
    assert_eq!(fs::read(other.path().join("notes")).unwrap(), fs::read(notes).unwrap());
    for (sandbox, store) in [(&laptop, &mine), (&other, &here), (&laptop, &tier)] {
        sandbox.ok(&["--store", store, "verify"]);
        assert_eq!(
            sandbox.json(&["--store", store, "pull", &other_of(store, &tier, &mine)])["events"],
            0
        );
    }
}

/// Returns a store that is not `store`.
fn other_of(store: &str, tier: &str, mine: &str) -> String {
    if store == tier { mine.to_owned() } else { tier.to_owned() }
}

fn states(done: &Value) -> Vec<String> {
    let sessions = done["sessions"].as_array().unwrap().iter();
    let word = |it: &Value, field: &str| it[field].as_str().unwrap().to_owned();
    sessions.map(|it| format!("{} {}", word(it, "session_id"), word(it, "state"))).collect()
}

#[test]
fn a_push_that_is_killed_is_completed_by_the_next() {
    let sandbox = Sandbox::with_a_plan();
    for agent in ["codex/home", "pi"] {
        sandbox.ok(&["import", &testdata(agent)]);
    }
    let mine = url("sqlite", &sandbox, "store.db");
    let expected = everything(&sandbox, &mine);
    for sessions in [1, 4, 9] {
        let there = url("files", &sandbox, &format!("there-{sessions}"));
        let mut command = sandbox.command(&["push", "--all", &there]);
        let mut pushing = command.stdout(Stdio::null()).spawn().unwrap();
        let folder = sandbox.path().join(format!("there-{sessions}"));
        // The push is killed when this many files are there, or has ended by then.
        while pushing.try_wait().unwrap().is_none()
            && !(folder.is_dir() && files(&folder).len() >= sessions)
        {
            std::thread::yield_now();
        }
        let _ = pushing.kill();
        pushing.wait().unwrap();
        let done = sandbox.json(&["push", "--all", &there]);
        assert_eq!(done["skipped"], json!([]));
        assert_eq!(everything(&sandbox, &there), expected);
        sandbox.ok(&["--store", &there, "verify"]);
    }
}

#[test]
fn two_pushes_at_once_write_nothing_twice() {
    let sandbox = Sandbox::with_a_plan();
    sandbox.ok(&["import", &testdata("codex/home")]);
    let there = url("sqlite", &sandbox, "there.db");
    let push = || {
        let mut command = sandbox.command(&["--json", "push", "--all", &there]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    for pushing in [push(), push(), push()] {
        let ran = of(&pushing.wait_with_output().unwrap());
        assert_eq!(ran.code, 0, "{ran:?}");
    }
    let mine = url("sqlite", &sandbox, "store.db");
    assert_eq!(everything(&sandbox, &there), everything(&sandbox, &mine));
}

#[test]
fn people_see_what_was_copied() {
    let sandbox = Sandbox::with_a_plan();
    sandbox.ok(&["fork", "plan-1", "--at", "turn:1", "--id", "plan-b", "--label", "plan-b"]);
    let there = "files:there";
    let mut text = String::new();
    let mut show = |words: &[&str]| {
        let ran = sandbox.run(words);
        text.push_str(&format!("$ forklore {}\n{}{}", words.join(" "), ran.out, ran.err));
    };
    show(&["push", "plan-1", there, "--dry-run"]);
    show(&["push", "plan-1", there]);
    show(&["push", "--all", there]);
    show(&["append", "plan-1", "--text", "here"]);
    show(&["--store", there, "append", "plan-1", "--text", "there"]);
    show(&["--store", there, "delete", "plan-b", "--yes"]);
    show(&["append", "plan-b", "--text", "and now?"]);
    show(&["push", there]);
    show(&["pull", there]);
    show(&["push", "nobody", there]);
    show(&["pull", "nobody", there]);
    show(&["pull", "files:nowhere"]);
    show(&["push", "memory:"]);
    show(&["push", "sqlite:store.db"]);
    show(&["push", "mysql://host/team"]);
    show(&["push"]);
    show(&["push", "plan-1"]);
    show(&["handoff", "plan-1", there, "--to", "bob"]);
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let text =
        text.replace(host.trim(), "[host]").replace(sandbox.path().to_str().unwrap(), "[dir]");
    snapshot!(text);
}

#[test]
fn a_remote_is_a_name_in_the_configuration() {
    let sandbox = Sandbox::with_a_plan();
    let config = sandbox.path().join("home/.config/forklore/config.toml");
    fs::create_dir_all(config.parent().unwrap()).unwrap();
    fs::write(&config, "# mine\nsystem = \"Be brief.\"  # so\n").unwrap();
    sandbox.ok(&["remote", "add", "usb", "files:usb"]);
    let usb = url("files", &sandbox, "usb");
    let text = format!("# mine\nsystem = \"Be brief.\"  # so\n\n[remotes]\nusb = \"{usb}\"\n");
    assert_eq!(fs::read_to_string(&config).unwrap(), text);
    assert_eq!(sandbox.json(&["remote"])["remotes"], json!([{"name": "usb", "url": usb}]));

    // The only remote needs no name.
    assert_eq!(states(&sandbox.json(&["push", "plan-1"])), ["plan-1 created"]);
    assert_eq!(sandbox.json(&["push", "--all"])["unchanged"], 1);
    assert_eq!(sandbox.json(&["pull", "usb"])["unchanged"], 1);
    assert_eq!(sandbox.json(&["pull", "plan-1", "usb"])["unchanged"], 1);
    let handed = sandbox.json(&["handoff", "plan-1", "--to", "bob"]);
    let command = format!("forklore --store {usb} resume plan-1");
    assert_eq!((&handed["to"], &handed["command"]), (&json!("bob"), &json!(command)));
    assert_eq!(sandbox.json(&["--store", &usb, "show", "plan-1"])["session"]["head_seq"], 7);

    sandbox.ok(&["remote", "add", "team", "postgres://ann@db.example/team"]);
    let (code, error) = sandbox.error(&["push", "--all"]);
    assert_eq!(code, 2);
    assert_eq!(error["message"], "several remotes are configured; name one of team, usb");
    let secret = ["remote", "add", "team", "postgres://ann:sesame@db.example/team"];
    let (code, error) = sandbox.error(&secret);
    assert_eq!((code, error.to_string().contains("sesame")), (2, false));
    sandbox.ok(&["remote", "remove", "team"]);
    assert_eq!(sandbox.error(&["remote", "remove", "team"]).0, 2);
    assert_eq!(sandbox.error(&["remote", "add", "a b", "files:usb"]).0, 2);
    assert_eq!(fs::read_to_string(&config).unwrap(), text);

    fs::write(&config, "system = ").unwrap();
    assert_eq!(sandbox.error(&["remote", "add", "usb", "files:usb"]).0, 2);
    assert_eq!(fs::read_to_string(&config).unwrap(), "system = ");
    // A URL needs no configuration.
    assert_eq!(sandbox.json(&["pull", &usb])["unchanged"], 1);
}

#[test]
fn a_session_in_which_a_turn_runs_is_not_handed_over() {
    let sandbox = Sandbox::with_a_plan();
    let engine = forklore::blocking::open(&url("sqlite", &sandbox, "store.db")).unwrap();
    let id = "plan-1".parse().unwrap();
    let owner = forklore::engine::lease_owner::name("test", "1");
    engine.take_lease(&id, &owner).unwrap();
    let (_, error) = sandbox.error(&["handoff", "plan-1", "files:there", "--to", "bob"]);
    assert_eq!(error["kind"], "busy");
    // Nothing was created there, and nothing recorded here.
    assert!(!sandbox.path().join("there").exists());
    assert_eq!(sandbox.json(&["show", "plan-1"])["session"]["head_seq"], 6);
    engine.release(&id, &owner).unwrap();
    sandbox.ok(&["handoff", "plan-1", "files:there", "--to", "bob"]);
}

#[test]
fn a_session_that_was_deleted_there_is_not_handed_over() {
    let sandbox = Sandbox::with_a_plan();
    sandbox.ok(&["push", "plan-1", "files:there"]);
    sandbox.ok(&["--store", "files:there", "delete", "plan-1", "--yes"]);
    let (_, error) = sandbox.error(&["handoff", "plan-1", "files:there", "--to", "bob"]);
    let message = "plan-1 was not handed over: it was deleted there";
    assert_eq!((&error["kind"], &error["message"]), (&json!("conflict"), &json!(message)));
}

#[test]
fn a_folder_with_the_name_of_a_session_is_no_store() {
    let sandbox = Sandbox::with_a_plan();
    fs::create_dir(sandbox.path().join("plan-1")).unwrap();
    sandbox.ok(&["remote", "add", "usb", "files:usb"]);
    assert_eq!(states(&sandbox.json(&["push", "plan-1"])), ["plan-1 created"]);
}
