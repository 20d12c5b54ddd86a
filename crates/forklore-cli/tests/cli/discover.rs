//! Tests of `import --discover`: it finds the agents in a home directory and their sessions, and
//! suggests the command that imports them.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::sandbox::{Sandbox, copy_folder, ran, snapshot};

/// Copies a folder of sample sessions from `testdata` into the home directory of a test.
pub(crate) fn sample(sandbox: &Sandbox, from: &str, to: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata");
    let to = sandbox.path().join("home").join(to);
    copy_folder(&root.join(from), &to);
    to
}

#[test]
fn agents_are_found_with_the_command_that_imports_them() {
    let sandbox = Sandbox::with_default_store();
    sample(&sandbox, "claude/projects", ".claude/projects");
    sample(&sandbox, "pi/sessions", ".pi/agent/sessions");
    let found = sandbox.json(&["import", "--discover"]);
    assert!(!sandbox.store().exists(), "looking makes no store");
    let agents = found["agents"].as_array().unwrap();
    let names: Vec<_> = agents.iter().map(|agent| &agent["agent"]).collect();
    assert_eq!(names, ["Claude Code", "Pi"]);
    assert_eq!((&agents[0]["files"], &agents[0]["imported"]), (&json!(5), &json!(0)));
    assert_eq!(agents[0]["command"], "forklore import ~/.claude/projects");
    assert_eq!(found["command"], "forklore import ~/.claude/projects ~/.pi/agent/sessions");

    // A shell can run the suggested command.
    let words = found["command"].as_str().unwrap().replacen("forklore", "\"$0\"", 1);
    let mut shell = sandbox.command(&[]);
    let program = shell.get_program().to_owned();
    shell = std::process::Command::new("sh");
    shell.args(["-c", &words]).arg(program).env_clear().current_dir(sandbox.path());
    shell.env("HOME", sandbox.path().join("home"));
    let imported = ran(shell);
    assert_eq!(imported.code, 0, "{imported:?}");
    for agent in sandbox.json(&["import", "--discover"])["agents"].as_array().unwrap() {
        assert_eq!((&agent["imported"], &agent["to_read"]), (&agent["files"], &json!(0)));
    }
}

#[test]
fn what_grew_is_to_be_read() {
    let sandbox = Sandbox::new();
    let projects = sample(&sandbox, "claude/projects", ".claude/projects");
    sandbox.ok(&["import", projects.to_str().unwrap()]);
    let folder = fs::read_dir(&projects).unwrap().next().unwrap().unwrap().path();
    let file = folder.join("533a7e09-e1bd-4e5c-9fb0-51c9798814b4.jsonl");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text + "{\"type\":\"summary\"}\n").unwrap();
    let agent = &sandbox.json(&["import", "--discover"])["agents"][0];
    assert_eq!((&agent["imported"], &agent["to_read"]), (&json!(5), &json!(1)));
}

#[test]
fn what_is_imported_is_not_offered_again() {
    let sandbox = Sandbox::new();
    let folders = [
        sample(&sandbox, "claude/projects", ".claude/projects"),
        sample(&sandbox, "codex/home/sessions", ".codex/sessions"),
        sample(&sandbox, "pi/sessions", ".pi/agent/sessions"),
        sample(&sandbox, "gemini/synthetic/tmp", ".gemini/tmp"),
        sample(&sandbox, "opencode/genuine", ".local/share/opencode").join("opencode.db"),
    ];
    let paths: Vec<_> = folders.iter().map(|path| path.to_str().unwrap()).collect();
    sandbox.ok(&[&["import"], paths.as_slice()].concat());
    let found = sandbox.json(&["import", "--discover"]);
    let agents = found["agents"].as_array().unwrap();
    let live: Vec<_> = agents
        .iter()
        .map(|agent| (agent["agent"].as_str().unwrap(), agent["imported"] == agent["files"]))
        .collect();
    let all = ["Claude Code", "Codex", "Pi", "Gemini CLI", "opencode"].map(|name| (name, true));
    assert_eq!(live, all);
    assert!(agents.iter().all(|agent| agent["to_read"] == 0), "{agents:#?}");
    assert_eq!(found["command"], serde_json::Value::Null);
    let output = sandbox.run(&["import", "--discover"]).err;

    // After a change, the hints suggest only the agent with new data.
    let mut file = fs::OpenOptions::new().append(true).open(first_file(&folders[2])).unwrap();
    std::io::Write::write_all(&mut file, b"{}\n").unwrap();
    drop(file);
    let grown = sandbox.run(&["import", "--discover"]).err;
    assert_eq!(
        sandbox.json(&["import", "--discover"])["command"],
        "forklore import ~/.pi/agent/sessions"
    );
    snapshot!(format!("{output}---\n{grown}"));
}

fn first_file(folder: &Path) -> PathBuf {
    let path = fs::read_dir(folder).unwrap().next().unwrap().unwrap().path();
    if path.is_dir() { first_file(&path) } else { path }
}

#[test]
fn a_home_without_agents_says_so() {
    let sandbox = Sandbox::with_default_store();
    assert_eq!(sandbox.ok(&["import", "--discover"]), "No known agent keeps sessions here.\n");
    assert_eq!(sandbox.json(&["import", "--discover"]), json!({"ok": true, "agents": []}));
    let (code, error) = sandbox.error(&["import", "--discover", "somewhere"]);
    assert_eq!((code, &error["kind"]), (2, &json!("invalid_args")));
    let imported = sandbox.run(&["import"]);
    let printed = (imported.code, &*imported.out);
    assert_eq!(printed, (0, "No known agent keeps sessions here.\n"));
    assert!(!sandbox.store().exists(), "nothing is there to import");
}

#[test]
fn an_import_without_a_path_reads_what_is_found() {
    let sandbox = Sandbox::new();
    sample(&sandbox, "claude/projects", ".claude/projects");
    sample(&sandbox, "pi/sessions", ".pi/agent/sessions");
    let only = sandbox.json(&["import", "--from", "pi"]);
    let dialects = |answer: &serde_json::Value| {
        let sessions = answer["sessions"].as_array().unwrap().iter();
        let of = sessions.map(|session| session["dialect"].as_str().unwrap().to_owned());
        of.collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!(dialects(&only), ["pi".to_owned()].into());
    // Users see what was found, then what was read.
    let all = sandbox.run(&["import"]);
    assert_eq!(all.code, 0, "{all:?}");
    let (found, read) = all.out.split_once("\n\n").unwrap();
    assert!(found.starts_with("AGENT") && found.contains("Claude Code"), "{found}");
    assert!(read.contains("Imported "), "{read}");
    assert_eq!(dialects(&sandbox.json(&["import"])), ["claude".to_owned(), "pi".to_owned()].into());
    for agent in sandbox.json(&["import", "--discover"])["agents"].as_array().unwrap() {
        assert_eq!((&agent["imported"], &agent["to_read"]), (&agent["files"], &json!(0)));
    }
}

#[test]
fn a_variable_moves_an_agents_folder() {
    let sandbox = Sandbox::with_default_store();
    sample(&sandbox, "claude/projects", "else where/projects");
    let mut command = sandbox.command(&["--json", "import", "--discover"]);
    command.env("CLAUDE_CONFIG_DIR", sandbox.path().join("home/else where"));
    let found: serde_json::Value = serde_json::from_str(&ran(command).out).unwrap();
    assert_eq!(found["command"], "forklore import ~/'else where/projects'");
}
