//! Tests of the pager at a real terminal (tmux).

use crate::sandbox::{Sandbox, WORKSPACE};
use crate::terminal::Terminal;

/// Creates a session whose log is longer than a terminal.
fn long() -> Sandbox {
    let sandbox = Sandbox::with_a_plan();
    sandbox.append("plan-1", &"{\"data\":{\"content\":\"more of it\"}}\n".repeat(300));
    sandbox
}

/// Starts a shell at a terminal that runs the program, and then prints its exit code. `before` sets
/// variables.
fn run<'a>(sandbox: &'a Sandbox, name: &'static str, before: &str, words: &str) -> Terminal<'a> {
    let program = env!("CARGO_BIN_EXE_forklore");
    // Ctrl-C reaches the shell too. With a trap, the shell continues.
    let script = format!(
        "trap : INT; {before} {program} --workspace {WORKSPACE} {words}; echo code $?; cat"
    );
    Terminal::running(sandbox, name, &["sh", "-c", &script])
}

fn press(terminal: &Terminal<'_>, key: &str) {
    assert!(terminal.tmux(&["send-keys", key]).status().unwrap().success());
}

#[test]
fn a_long_answer_is_shown_in_less_which_ctrl_c_does_not_end() {
    let sandbox = long();
    let terminal = run(&sandbox, "less", "", "log plan-1");
    let screen = terminal.until("less", |screen| screen.lines().last() == Some(":"));
    assert!(screen.contains("SEQ") && !screen.contains("code"), "{screen}");
    press(&terminal, "C-c");
    let end = terminal.until("the end", |screen| {
        // An interrupt makes less forget a key that came at the same time.
        press(&terminal, "G");
        screen.lines().last().is_some_and(|line| line.contains("(END)"))
    });
    assert!(end.contains(" 306 "), "{end}");
    press(&terminal, "q");
    terminal.until("exit code", |screen| screen.lines().last() == Some("code 0"));
    // The terminal is as before: what is typed is shown.
    press(&terminal, "x");
    terminal.until("echo", |screen| screen.lines().last() == Some("x"));
}

#[test]
fn who_leaves_the_pager_early_ends_the_command() {
    let sandbox = long();
    let line = r#"{"data":{"content":"a long text that fills the pipe to the pager"}}"#;
    sandbox.append("plan-1", &format!("{line}\n").repeat(3_000));
    for (name, words) in [("early-log", "log plan-1"), ("early-replay", "replay plan-1")] {
        let terminal = run(&sandbox, name, "", words);
        terminal.until("less", |screen| screen.lines().last() == Some(":"));
        press(&terminal, "q");
        terminal.until("exit code", |screen| screen.lines().last() == Some("code 0"));
    }
}

#[test]
fn every_reading_command_has_a_pager() {
    let sandbox = long();
    for number in 0..60 {
        let id = format!("fork-{number}");
        sandbox.ok(&["fork", "plan-1", "--at", "turn:1", "--id", &id, "--label", &id]);
    }
    let pager = "PAGER=\"sh -c 'wc -l; exit 3'\"";
    let commands = [
        ("pager-log", "log plan-1"),
        ("pager-replay", "replay plan-1"),
        ("pager-diff", "diff plan-1 fork-1"),
        ("pager-columns", "diff plan-1 fork-1 -y"),
        ("pager-tree", "tree --unfold"),
        ("pager-list", "list --limit 60"),
    ];
    for (name, words) in commands {
        let terminal = run(&sandbox, name, pager, words);
        let screen = terminal.until("exit code", |screen| screen.contains("code"));
        let lines: usize = screen.lines().next().unwrap().trim().parse().unwrap();
        assert!(lines > 48 && screen.contains("\ncode 0"), "{words}: {screen}");
    }
}

#[test]
fn no_pager_runs_where_none_is_of_use() {
    let sandbox = long();
    let paged = sandbox.path().join("paged");
    let pager = format!("PAGER='touch {}'", paged.display());
    let dumb = format!("TERM=dumb {pager}");
    let pager = pager.as_str();
    let commands = [
        ("short", pager, "log plan-1 --to 9"),
        ("off", pager, "--no-pager log plan-1"),
        ("json", pager, "--json log plan-1"),
        ("speed", pager, "replay plan-1 --speed 1000000"),
        ("cat", "PAGER=cat", "log plan-1"),
        ("none", "PAGER=", "log plan-1"),
        ("lost", "PAGER=/no/such/pager", "log plan-1"),
        ("dumb", dumb.as_str(), "log plan-1"),
    ];
    for (name, before, words) in commands {
        let terminal = run(&sandbox, name, before, words);
        let screen = terminal.until("exit code", |screen| screen.lines().last() == Some("code 0"));
        let shown = if name == "short" { "todo.md" } else { "more of it" };
        assert!(screen.contains(shown), "{name}: {screen}");
        assert!(!paged.exists(), "{name}");
    }
    let piped = run(&sandbox, "piped", pager, "log plan-1 | tail -n 1");
    let screen = piped.until("exit code", |screen| screen.contains("code 0"));
    assert!(screen.contains("306") && !paged.exists(), "{screen}");
}
