//! Tests that the commands of the README work in an empty home directory.

use std::path::Path;
use std::process::Command;

use crate::sandbox::{Sandbox, is_generated_label, ran};

const SECTIONS: [&str; 6] = [
    "## Try it",
    "## Your agents' sessions",
    "## What you can do",
    "## Go on in the agent itself",
    "## Find it again",
    "## Ask about them",
];

/// Returns the commands of a section of the README as a shell script. Calls the program `forklore`
/// and omits the lines that start a shell and add the build folder to `PATH`.
fn commands(readme: &str, section: &str) -> String {
    let section = readme.split(section).nth(1).unwrap();
    let block = section.split("```console\n").nth(1).unwrap().split("```").next().unwrap();
    let mut lines = Vec::new();
    let mut is_open = false;
    for line in block.lines() {
        let command = line.strip_prefix("$ ");
        // A line without a prompt continues a query whose quote is open, or else is output.
        let Some(text) = command.or_else(|| is_open.then_some(line)) else { continue };
        if text.matches('\'').count() % 2 == 1 {
            is_open = !is_open;
        }
        lines.push(text.replace("cargo run --release --", "forklore"));
    }
    lines.retain(|line| line != "bash" && !line.starts_with("PATH="));
    assert!(!lines.is_empty(), "{section}");
    lines.join("\n") + "\n"
}

#[test]
fn its_lines_do_what_they_say_in_an_empty_home() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let sandbox = Sandbox::new();
    let program = Path::new(env!("CARGO_BIN_EXE_forklore")).parent().unwrap();
    // Simulate a clone of the repository, in which the commands may write files.
    let clone = sandbox.path().join("clone");
    std::fs::create_dir(&clone).unwrap();
    std::os::unix::fs::symlink(root.join("testdata"), clone.join("testdata")).unwrap();
    std::fs::copy(root.join("Cargo.toml"), clone.join("Cargo.toml")).unwrap();
    let blocks: String = SECTIONS.iter().map(|section| commands(&readme, section)).collect();
    let mut shell = Command::new("bash");
    shell
        .args(["-c", &format!("set -e\n{blocks}")])
        .env_clear()
        .env("HOME", sandbox.path().join("home"))
        .env("PATH", format!("{}:/usr/bin:/bin", program.display()))
        .env("TMPDIR", sandbox.path())
        .env("COLUMNS", "200")
        .current_dir(&clone);
    let ran = ran(shell);
    assert_eq!(ran.code, 0, "{ran:?}");
    for agent in ["Claude Code", "Codex", "Pi", "Gemini CLI", "opencode"] {
        assert!(ran.out.contains(&format!("\n{agent} ")), "{agent}: {ran:?}");
    }
    for dialect in ["claude", "codex", "gemini", "opencode", "pi", "all"] {
        let line = ran.out.lines().find(|line| line.starts_with(&format!("{dialect} ")));
        assert!(line.is_some(), "{dialect} has a line in the table: {}", ran.out);
    }
    let trees: Vec<&str> = ran.out.split("BRANCH  ").skip(1).collect();
    let [tried, all, _, own, forked] = trees.as_slice() else { panic!("{}", ran.out) };
    assert!(tried.split_whitespace().any(is_generated_label), "{tried}");
    assert!(all.contains("└─ ") && all.lines().count() > 15, "{all}");
    for dialect in ["claude", "codex", "gemini", "opencode", "pi"] {
        assert!(all.contains(&format!(" {dialect} ")), "{dialect} is named in the tree: {all}");
    }
    assert!(own.contains("which parser?") && own.contains("└─ try-winnow"), "{own}");
    assert!(forked.contains("└─ plan-b") && forked.contains("claude --resume "), "{forked}");
    assert!(forked.contains("codex resume "), "{forked}");
    assert!(std::fs::metadata(clone.join("sessions.trig")).unwrap().len() > 10_000);
    // The table has only its heading, because no tool failed in any of the samples.
    assert!(forked.trim_end().ends_with("branch  tool  failures"), "{forked}");
}

/// Removes everything from an output line that differs between runs: ids, ages and the widths of
/// columns.
fn lasting(line: &str) -> String {
    let is_id =
        |word: &str| word.len() >= 8 && word.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
    let words = line.split_whitespace().map(|word| match word {
        label if is_generated_label(label) => "LABEL",
        id if is_id(id) => "ID",
        _ => word,
    });
    let line = words.collect::<Vec<_>>().join(" ");
    // Cut the line after the size, because the age that follows differs between runs.
    match line.split_once(" kB ").or_else(|| line.split_once(" B ")) {
        Some((before, _)) => before.to_owned(),
        None => line,
    }
}

#[test]
fn what_its_first_command_prints_stands_below_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let section = readme.split("## Try it").nth(1).unwrap();
    let shown = section.split("```text\n").nth(1).unwrap().split("```").next().unwrap();
    let command = commands(&readme, "## Try it");
    let mut words = command.split_whitespace();
    assert_eq!(words.next(), Some("forklore"));
    let sandbox = Sandbox::new();
    let mut forklore = sandbox.command(&words.collect::<Vec<_>>());
    forklore.current_dir(&root).env("COLUMNS", "200");
    let ran = ran(forklore);
    let lines = |text: &str| text.lines().map(lasting).collect::<Vec<_>>();
    assert_eq!(lines(&ran.out), lines(shown), "{ran:?}");
}
