//! Tests of the interface at a real terminal (tmux). How it reacts to each key is tested in
//! `forklore-ui`.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::sandbox::{Sandbox, WORKSPACE};
use crate::scripted::{Answer, Scripted};
use crate::terminal::Terminal;

/// Starts a shell at a terminal that runs the interface. It prints the exit code afterwards, and
/// whether the terminal is as it was before.
fn start<'a>(sandbox: &'a Sandbox, name: &'static str, words: &str) -> Terminal<'a> {
    let program = env!("CARGO_BIN_EXE_forklore");
    let script = format!(
        "before=$(stty -g); {program} --workspace {WORKSPACE} {words}; code=$?; \
         test \"$before\" = \"$(stty -g)\" && echo \"ended with $code, as it was\"; cat"
    );
    Terminal::running(sandbox, name, &["sh", "-c", &script])
}

fn press(terminal: &Terminal<'_>, keys: &[&str]) {
    for key in keys {
        assert!(terminal.tmux(&["send-keys", key]).status().unwrap().success());
    }
}

fn shows(terminal: &Terminal<'_>, text: &str) -> String {
    terminal.until(text, |screen| screen.contains(text))
}

fn ended(terminal: &Terminal<'_>, code: i32) -> String {
    shows(terminal, &format!("ended with {code}, as it was"))
}

#[test]
fn one_reads_and_forks_a_session() {
    let sandbox = Sandbox::with_a_plan();
    let terminal = start(&sandbox, "ui", "ui");
    let texts = ["SESSION", "Plan the release", "? keys"];
    terminal.until("list", |screen| texts.iter().all(|text| screen.contains(text)));
    press(&terminal, &["Enter"]);
    shows(&terminal, "2 turns");
    press(&terminal, &["g", "f", "t"]);
    shows(&terminal, "label of the fork");
    press(&terminal, &["plan-b", "Enter"]);
    shows(&terminal, "Forked to plan-b");
    press(&terminal, &["n", "t"]);
    shows(&terminal, "└─ plan-b");
    press(&terminal, &["q"]);
    let screen = ended(&terminal, 0);
    assert!(!screen.contains("plan-b"), "the screen is as before: {screen}");
    let forked = sandbox.json(&["show", "@plan-b"]);
    assert_eq!(forked["session"]["cut"]["turn"], 1);
}

#[test]
fn a_session_is_opened_by_its_name_and_searched() {
    let sandbox = Sandbox::with_a_plan();
    let terminal = start(&sandbox, "ui-read", "ui plan-1");
    shows(&terminal, "2 turns");
    press(&terminal, &["s", "todo", "Enter"]);
    shows(&terminal, "search todo");
    press(&terminal, &["q"]);
    ended(&terminal, 0);
    let lost = start(&sandbox, "ui-lost", "ui nowhere");
    ended(&lost, 2);
}

#[test]
fn the_terminal_is_given_back_however_the_program_ends() {
    let sandbox = Sandbox::with_a_plan();
    let interrupted = start(&sandbox, "ui-interrupt", "ui");
    shows(&interrupted, "Plan the release");
    press(&interrupted, &["C-c"]);
    ended(&interrupted, 130);
    let terminated = start(&sandbox, "ui-term", "ui");
    shows(&terminated, "Plan the release");
    let shell = terminated.tmux(&["list-panes", "-F", "#{pane_pid}"]).output().unwrap();
    let shell = String::from_utf8(shell.stdout).unwrap().trim().to_owned();
    let children = std::fs::read_to_string(format!("/proc/{shell}/task/{shell}/children"));
    let program = children.unwrap().trim().to_owned();
    assert!(Command::new("kill").arg(program).status().unwrap().success());
    ended(&terminated, 143);
}

#[test]
fn an_interface_whose_terminal_is_gone_ends() {
    for hangup in ["", "trap '' HUP; "] {
        let sandbox = Sandbox::with_a_plan();
        let program = env!("CARGO_BIN_EXE_forklore");
        let script = format!("{hangup}{program} --workspace {WORKSPACE} ui");
        let terminal = Terminal::running(&sandbox, "ui-gone", &["sh", "-c", &script]);
        shows(&terminal, "Plan the release");
        let shell = terminal.tmux(&["list-panes", "-F", "#{pane_pid}"]).output().unwrap();
        let shell = String::from_utf8(shell.stdout).unwrap().trim().to_owned();
        let children = std::fs::read_to_string(format!("/proc/{shell}/task/{shell}/children"));
        // A shell may run its last command in its own process.
        let running = match children.unwrap().trim() {
            "" => shell,
            child => child.to_owned(),
        };
        let killed = terminal.tmux(&["kill-server"]).status().unwrap();
        assert!(killed.success());
        while Path::new(&format!("/proc/{running}/fd/0")).exists() {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

#[test]
fn a_stopped_interface_goes_on() {
    let sandbox = Sandbox::with_a_plan();
    let shell = ["bash", "--norc", "--noprofile", "-i"];
    let terminal = Terminal::running(&sandbox, "ui-stop", &shell);
    let program = env!("CARGO_BIN_EXE_forklore");
    let line = format!("clear; {program} --workspace {WORKSPACE} ui; echo ended with $?");
    press(&terminal, &[&line, "Enter"]);
    shows(&terminal, "? keys");
    press(&terminal, &["C-z"]);
    let stopped = shows(&terminal, "Stopped");
    assert!(!stopped.contains("? keys"), "{stopped}");
    press(&terminal, &["fg", "Enter"]);
    shows(&terminal, "? keys");
    press(&terminal, &["Enter"]);
    shows(&terminal, "2 turns");
    press(&terminal, &["q"]);
    terminal.until("prompt", |screen| !screen.contains("? keys"));
}

#[test]
fn a_terminal_is_resized_in_the_middle() {
    let sandbox = Sandbox::with_a_plan();
    let terminal = start(&sandbox, "ui-size", "ui");
    shows(&terminal, "Plan the release");
    let resize = |columns: &str, rows: &str| {
        let words = ["resize-window", "-x", columns, "-y", rows];
        assert!(terminal.tmux(&words).status().unwrap().success());
    };
    resize("10", "6");
    terminal.until("narrow", |screen| screen.lines().any(|line| line == " Plan the"));
    press(&terminal, &["Enter"]);
    resize("400", "60");
    shows(&terminal, "2 turns");
    press(&terminal, &["q"]);
    ended(&terminal, 0);
}

#[test]
fn what_other_programs_do_appears() {
    let sandbox = Sandbox::with_a_plan();
    let one = start(&sandbox, "ui-one", "ui");
    let other = start(&sandbox, "ui-other", "ui");
    shows(&one, "Plan the release");
    shows(&other, "Plan the release");
    sandbox.ok(&["new", "--id", "second", "--title", "Another plan"]);
    shows(&one, "Another plan");
    shows(&other, "Another plan");
    // Both have the same session; one deletes it while the other reads it.
    press(&other, &["/", "Another", "Enter", "Enter"]);
    shows(&other, "nothing yet");
    press(&one, &["g", "d", "y"]);
    shows(&one, "deleted 1 session");
    shows(&other, "this session was deleted");
    press(&one, &["u"]);
    shows(&one, "Another plan");
    press(&one, &["q"]);
    press(&other, &["q"]);
    ended(&one, 0);
    ended(&other, 0);
    assert_eq!(sandbox.json(&["list"])["sessions"].as_array().unwrap().len(), 2);
}

#[test]
fn a_session_is_continued_in_an_agent_or_here() {
    let sandbox = Sandbox::with_a_plan();
    let terminal = start(&sandbox, "ui-agent", "ui");
    shows(&terminal, "Plan the release");
    press(&terminal, &["R"]);
    let texts = ["Continue main", "claude", "codex"];
    let menu = terminal.until("menu", |screen| texts.iter().all(|text| screen.contains(text)));
    let key = menu.lines().find_map(|line| line.split_once(" codex")?.0.chars().last()).unwrap();
    press(&terminal, &[&key.to_string()]);
    let screen = ended(&terminal, 0);
    assert!(screen.contains("Wrote ") && screen.contains("codex resume"), "{screen}");
    // Without a configured model, a conversation says what to write.
    let terminal = start(&sandbox, "ui-resume", "ui plan-1");
    shows(&terminal, "2 turns");
    press(&terminal, &["r"]);
    let screen = shows(&terminal, "ended with");
    assert!(screen.contains("[models."), "{screen}");
}

#[test]
fn without_a_terminal_it_names_what_to_use_instead() {
    let sandbox = Sandbox::with_a_plan();
    let ran = sandbox.run(&["ui"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("needs a terminal") && ran.err.contains("forklore list"), "{ran:?}");
    assert_eq!(ran.out, "");
    let (code, error) = sandbox.error(&["ui"]);
    assert_eq!((code, &error["kind"]), (2, &"invalid_args".into()));
    for (name, term) in [("ui-dumb", "TERM=dumb"), ("ui-none", "env -u TERM")] {
        let program = env!("CARGO_BIN_EXE_forklore");
        let script = format!("{term} {program} ui; echo code $?; cat");
        let terminal = Terminal::running(&sandbox, name, &["sh", "-c", &script]);
        let screen = shows(&terminal, "code 2");
        assert!(screen.contains("needs a terminal"), "{screen}");
    }
}

#[test]
fn a_session_is_chosen_where_none_is_named() {
    let sandbox = Sandbox::with_a_plan();
    sandbox.ok(&["new", "--id", "notes", "--title", "Some notes"]);
    let fork = start(&sandbox, "choose-fork", "fork --label chosen");
    let texts = ["choose a session", "Some notes", "Enter choose"];
    fork.until("list", |screen| texts.iter().all(|text| screen.contains(text)));
    press(&fork, &["j", "Enter"]);
    let forked = ended(&fork, 0);
    assert!(forked.contains("Forked to chosen"), "{forked}");
    assert_eq!(sandbox.json(&["show", "@chosen"])["session"]["parent_id"], "plan-1");
    let cancelled = start(&sandbox, "choose-none", "fork");
    shows(&cancelled, "choose a session");
    press(&cancelled, &["Escape"]);
    ended(&cancelled, 0);
    // Without a terminal, a session must be named.
    let ran = sandbox.run(&["fork"]);
    assert!(ran.code == 2 && ran.err.contains("forklore fork last"), "{ran:?}");
    assert_eq!(sandbox.error(&["fork"]).0, 2);
}

#[test]
fn a_conversation_is_chosen_from_a_list() {
    let model = Scripted::start(&[Answer::Says("Hello there.")]);
    let sandbox = Sandbox::with_a_plan();
    sandbox.ok(&["new", "--id", "notes", "--title", "Some notes"]);
    sandbox.file("config.toml", &model.config());
    let terminal = start(&sandbox, "choose-resume", "resume");
    shows(&terminal, "choose a session");
    press(&terminal, &["j", "Enter"]);
    terminal.ready("main>");
    terminal.line("Say hello.", "main>");
    for command in ["/switch", "/resume"] {
        press(&terminal, &[command, "Enter"]);
        shows(&terminal, "choose a session");
        press(&terminal, &["Escape"]);
        terminal.ready("main>");
    }
    press(&terminal, &["/switch", "Enter"]);
    shows(&terminal, "choose a session");
    press(&terminal, &["/", "notes", "Enter", "Enter"]);
    terminal.ready("main>");
    press(&terminal, &["/quit", "Enter"]);
    let left = ended(&terminal, 0);
    assert!(left.contains("forklore resume notes"), "{left}");
    assert_eq!(sandbox.json(&["show", "plan-1"])["session"]["turns"], 3);
}
