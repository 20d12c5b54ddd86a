//! The README's section about agents, followed word for word.

use std::path::Path;
use std::process::Command;

use crate::place::{Place, ran};

/// The commands of the section, without the one that says where the program was built.
fn commands(readme: &str) -> String {
    let section = readme.split("## Your agents' sessions").nth(1).unwrap();
    let block = section.split("```").nth(1).unwrap();
    let lines = block.lines().filter_map(|line| line.strip_prefix("$ "));
    let lines: Vec<_> = lines.filter(|line| !line.starts_with("PATH=")).collect();
    assert!(lines.len() > 8, "{lines:?}");
    format!("set -e\n{}\n", lines.join("\n"))
}

#[test]
fn the_tree_over_several_agents_is_one_section_away() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let place = Place::new();
    let program = Path::new(env!("CARGO_BIN_EXE_forklore")).parent().unwrap();
    let mut shell = Command::new("sh");
    shell
        .args(["-c", &commands(&std::fs::read_to_string(root.join("README.md")).unwrap())])
        .env_clear()
        .env("PATH", format!("{}:/usr/bin:/bin", program.display()))
        .env("TMPDIR", place.path())
        .env("COLUMNS", "200")
        .current_dir(&root);
    let ran = ran(shell);
    assert_eq!(ran.code, 0, "{ran:?}");
    for agent in ["Claude Code", "Codex", "Pi", "Gemini CLI", "opencode"] {
        assert!(ran.out.contains(&format!("\n{agent} ")), "{agent}: {ran:?}");
    }
    for dialect in ["claude", "codex", "gemini", "opencode", "pi", "all"] {
        let line = ran.out.lines().find(|line| line.starts_with(&format!("{dialect} ")));
        assert!(line.is_some(), "{dialect} has a line in the table: {}", ran.out);
    }
    let tree = ran.out.rsplit("BRANCH  ").next().unwrap();
    assert!(tree.contains("└─ ") && tree.lines().count() > 15, "{tree}");
}
