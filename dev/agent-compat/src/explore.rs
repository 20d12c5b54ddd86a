//! Tests whether real agents go on in worktrees with `forklore explore --agent`: a session of
//! forklore becomes a session file of each agent, the agent makes a file with its shell, and what it
//! wrote becomes the events of a branch.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::agent::Agent;
use crate::error::{Error, Result};
use crate::mock::Mock;
use crate::output;
use crate::setting::Setting;
use crate::site::Site;
use crate::store::{Store, run};
use crate::tools::{MADE, MAKE};

/// Tests the agents, one after the other. Returns whether each of them passed.
pub(crate) fn all(setting: &Setting, agents: &[&'static Agent]) -> Result<bool> {
    let mut is_well = true;
    for agent in agents {
        is_well &= one(agent, setting)?;
    }
    Ok(is_well)
}

fn one(agent: &Agent, setting: &Setting) -> Result<bool> {
    let mock = Mock::start()?;
    let folder = tempfile::tempdir().map_err(Error::file(std::env::temp_dir()))?;
    let site = Site::new(folder.path(), setting, mock.port)?;
    (agent.prepare)(&site)?;
    let programs = site.home.with_file_name("programs");
    wrap(&(agent.program)(&site), &programs.join(agent.name))?;
    let store = Store { site: &site, setting };
    let workspace = site.project.to_string_lossy().into_owned();
    let mut printed = run(site.git(&["init", "--quiet"]))?;
    let file = site.project.join("notes.txt");
    fs::write(&file, "1\n").map_err(Error::file(&file))?;
    for words in [
        &["new", "--id", "work", "--workspace", &workspace][..],
        &["append", "work", "--type", "user_message", "--text", "What is this?"],
        &["append", "work", "--type", "assistant_message", "--text", "A lighthouse."],
    ] {
        printed += &run(store.command(words))?;
    }
    let judge = format!("test -f {MADE}");
    let words = [
        "--json",
        "explore",
        "work",
        MAKE,
        "-n",
        "2",
        "--agent",
        agent.name,
        "--allow",
        "*",
        "--judge",
        &judge,
        "--timeout",
        "300",
    ];
    let mut command = store.command(&words);
    let path = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{}:{path}", programs.display()));
    let answer = run(command)?;
    let outcome =
        passed(&store, &answer).map_err(|why| format!("  {why}; printed:\n{printed}{answer}"));
    output::explored(agent.name, &outcome);
    Ok(outcome.is_ok())
}

/// Checks the answer and the store. A later import must find nothing new.
fn passed(store: &Store<'_>, answer: &str) -> Result<(), String> {
    // What is printed for people comes after the answer.
    let answer = answer.lines().next().unwrap_or_default();
    let answer: Value = serde_json::from_str(answer).map_err(|error| error.to_string())?;
    let tries = answer.get("tries").and_then(Value::as_array).ok_or("no tries")?;
    for row in tries {
        let at = |path: &str| row.pointer(path).cloned().unwrap_or_default();
        let found = json!([at("/state"), at("/score"), at("/answer"), at("/work/files")]);
        if found != json!(["done", 1.0, "understood", 1]) {
            return Err(format!("an attempt ended otherwise: {found}"));
        }
        let log = store.lines(&["log", at("/session_id").as_str().unwrap_or_default()])?;
        let log = json!(log).to_string();
        if !log.contains(MAKE) || !log.contains("A lighthouse.") {
            return Err(format!("the branch lacks a part of the conversation: {log}"));
        }
    }
    let tree = store.lines(&["tree", "--all", "--flat"])?;
    run(store.command(&["import"])).map_err(|error| error.to_string())?;
    let after = store.lines(&["tree", "--all", "--flat"])?;
    if (tries.len(), tree.len(), after.len()) != (2, 3, 3) {
        return Err(format!("not a session with two branches: {tree:?}, and then {after:?}"));
    }
    Ok(())
}

/// Writes a script with the name by which forklore starts the agent.
fn wrap(program: &Command, path: &Path) -> Result<()> {
    let quoted = |text: &std::ffi::OsStr| {
        shlex::try_quote(&text.to_string_lossy())
            .map(std::borrow::Cow::into_owned)
            .unwrap_or_default()
    };
    let mut script = "#!/bin/sh\n".to_owned();
    for (name, value) in program.get_envs() {
        if let Some(value) = value {
            script += &format!("export {}={}\n", name.to_string_lossy(), quoted(value));
        }
    }
    let words = std::iter::once(program.get_program()).chain(program.get_args());
    script += &format!("exec {} \"$@\"\n", words.map(quoted).collect::<Vec<_>>().join(" "));
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder).map_err(Error::file(folder))?;
    fs::write(path, script).map_err(Error::file(path))?;
    let may_run = fs::Permissions::from_mode(0o755);
    fs::set_permissions(path, may_run).map_err(Error::file(path))
}
