//! Tests of shell completion: it offers commands, sessions and labels, and no hostile text.

use std::path::Path;
use std::process::Command;

use crate::sandbox::{Sandbox, ran, snapshot};

/// Returns what the program offers a shell as completions of the last argument in `words`.
fn candidates(sandbox: &Sandbox, shell: &str, words: &[&str]) -> String {
    let mut command = sandbox.command(&[&["--", "forklore"], words].concat());
    command
        .env("FORKLORE_COMPLETE", shell)
        .env("_CLAP_COMPLETE_INDEX", words.len().to_string())
        .env("_CLAP_IFS", "\n");
    let ran = ran(command);
    assert_eq!((ran.code, &*ran.err), (0, ""), "{ran:?}");
    ran.out
}

/// Creates a test environment with a session and its fork. Both belong to the folder in which
/// completion runs.
fn with_a_fork() -> Sandbox {
    let sandbox = Sandbox::new();
    let here = sandbox.path().to_str().unwrap().to_owned();
    for words in [
        &["new", "--id", "plan-1", "--title", "Plan the release"][..],
        &["append", "plan-1", "--text", "plan A or plan B?"],
        &["fork", "plan-1", "--id", "plan-2", "--label", "plan-b"],
    ] {
        let ran = ran(sandbox.command(&[&["--workspace", &here], words].concat()));
        assert_eq!(ran.code, 0, "{ran:?}");
    }
    sandbox
}

#[test]
fn the_script_of_each_shell_asks_the_program() {
    let sandbox = Sandbox::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = sandbox.ok(&["completions", shell]);
        assert!(script.contains("FORKLORE_COMPLETE"), "{shell}: {script}");
        let answer = sandbox.json(&["completions", shell]);
        assert_eq!(
            (answer["shell"].as_str(), answer["script"].as_str()),
            (Some(shell), Some(&*script))
        );
    }
    let script = sandbox.ok(&["completions", "bash"]);
    snapshot!(script.lines().take(8).collect::<Vec<_>>().join("\n"));
    assert!(!sandbox.store().exists());
}

#[test]
fn the_help_says_how_to_install_each() {
    snapshot!(Sandbox::new().ok(&["completions", "--help"]));
}

#[test]
fn an_unknown_shell_is_refused() {
    assert_eq!(Sandbox::new().error(&["completions", "tcsh"]).0, 2);
}

#[test]
fn sessions_and_labels_are_offered() {
    let sandbox = with_a_fork();
    assert_eq!(candidates(&sandbox, "bash", &["show", "@"]), "@plan-b\n@main");
    assert_eq!(candidates(&sandbox, "bash", &["show", "pl"]), "plan-2\nplan-1");
    assert_eq!(candidates(&sandbox, "bash", &["diff", "@main", "la"]), "last");
    assert_eq!(candidates(&sandbox, "bash", &["ver"]), "verify");
    let fish = candidates(&sandbox, "fish", &["show", "plan-1"]);
    assert_eq!(fish.trim_end(), "plan-1\tPlan the release");
}

#[test]
fn labels_of_a_family_follow_its_session() {
    let sandbox = with_a_fork();
    assert_eq!(candidates(&sandbox, "bash", &["show", "last@"]), "last@main\nlast@plan-b");
    assert_eq!(candidates(&sandbox, "bash", &["show", "plan-1@p"]), "plan-1@plan-b");
    assert_eq!(candidates(&sandbox, "bash", &["show", "nope@"]), "");
}

#[test]
fn sessions_of_the_folders_and_the_store_that_were_typed_are_offered() {
    let sandbox = with_a_fork();
    let store = format!("--store=files:{}", sandbox.path().join("other").display());
    for words in [
        &["--workspace", "/elsewhere", "new", "--id", "plan-9"][..],
        &[&store, "--workspace", "/elsewhere", "new", "--id", "plan-in-files"],
    ] {
        assert_eq!(ran(sandbox.command(words)).code, 0);
    }
    let offered = |words: &[&str]| candidates(&sandbox, "bash", &[words, &["pl"]].concat());
    assert_eq!(offered(&["show"]), "plan-2\nplan-1");
    assert_eq!(offered(&["--all", "show"]), "plan-9\nplan-2\nplan-1");
    assert_eq!(offered(&["--workspace", "/elsewhere", "show"]), "plan-9");
    assert_eq!(offered(&[&store, "--all", "show"]), "plan-in-files");
}

#[test]
fn cuts_agents_formats_and_commands_are_offered() {
    let sandbox = with_a_fork();
    let offered = |words: &[&str]| candidates(&sandbox, "bash", words).replace('\n', " ");
    let turns = offered(&["fork", "plan-1", "--at", ""]);
    assert_eq!(turns, "turn:1 start end turn: message: index: seq: event:");
    assert_eq!(offered(&["resume-in", "claude", "plan-1", "--at", "tu"]), "turn:1 turn:");
    assert_eq!(offered(&["fork", "nope", "--at", "st"]), "start");
    let fish = candidates(&sandbox, "fish", &["replay", "plan-1", "--from", "turn:1"]);
    assert_eq!(fish.trim_end(), "turn:1\tplan A or plan B?");
    assert_eq!(offered(&["resume-in", "c"]), "codex claude");
    assert_eq!(offered(&["export", "plan-1", "--to", "p"]), "plain pi pixir");
    assert_eq!(offered(&["man", "un"]), "undelete undo");
    assert_eq!(offered(&["search", "x", "--agent", "ge"]), "gemini");
}

#[test]
fn without_a_store_none_is_made() {
    let sandbox = Sandbox::new();
    assert_eq!(candidates(&sandbox, "bash", &["show", "pl"]), "");
    assert!(!sandbox.store().exists());
}

#[test]
fn hostile_names_are_not_offered_and_hostile_titles_escaped() {
    let sandbox = Sandbox::new();
    let here = sandbox.path().to_str().unwrap().to_owned();
    let title = "\u{1b}[31mred\u{202e}";
    for words in [
        &["new", "--id", "plan-1", "--title", title][..],
        &["append", "plan-1", "--text", "hello"],
        &["fork", "plan-1", "--id", "plan-2", "--label", "größe"],
    ] {
        let ran = ran(sandbox.command(&[&["--workspace", &here], words].concat()));
        assert_eq!(ran.code, 0, "{ran:?}");
    }
    let offered = candidates(&sandbox, "fish", &["show", ""]);
    assert!(offered.contains("plan-1\t") && offered.contains("red"), "{offered}");
    assert!(!offered.contains(['\u{1b}', '\u{202e}']), "{offered:?}");
    assert!(!offered.contains("@größe"), "{offered}");
}

/// Runs the completion script in a real bash, with the program in its `PATH`.
#[test]
fn bash_completes_a_label() {
    let sandbox = with_a_fork();
    let program = Path::new(env!("CARGO_BIN_EXE_forklore")).parent().unwrap();
    let type_it = "\
source <(forklore completions bash)
COMP_WORDS=(forklore show @pl) COMP_CWORD=2 COMP_TYPE=9
_clap_complete_forklore forklore @pl show
printf '%s\\n' \"${COMPREPLY[@]}\"";
    let path = format!("{}:/usr/bin:/bin", program.display());
    let mut bash = Command::new("bash");
    bash.args(["--norc", "-c", type_it])
        .env_clear()
        .env("PATH", path)
        .env("HOME", sandbox.path().join("home"))
        .env("FORKLORE_STORE", format!("sqlite:{}", sandbox.store().display()))
        .current_dir(sandbox.path());
    let ran = ran(bash);
    assert_eq!((ran.code, &*ran.out), (0, "@plan-b\n"), "{ran:?}");
}
