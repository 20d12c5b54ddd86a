//! Snapshots of the help.

use crate::sandbox::{Sandbox, snapshot};

#[test]
fn alone_it_says_what_to_do_first() {
    let sandbox = Sandbox::new();
    snapshot!(sandbox.ok(&[]));
    assert!(!sandbox.store().exists());
}

#[test]
fn alone_it_suggests_only_forks_that_work() {
    let sandbox = Sandbox::new();
    let fork = || {
        let out = sandbox.ok(&[]);
        let line = out.lines().find_map(|line| line.trim().strip_prefix("forklore fork "));
        line.map(|line| line.split("  ").next().unwrap_or_default().to_owned())
    };
    sandbox.ok(&["new", "--id", "plan-1"]);
    assert_eq!(fork(), None);
    for (text, suggested) in [("one", "last"), ("two", "last --at turn:2")] {
        sandbox.ok(&["append", "plan-1", "--text", text]);
        assert_eq!(fork().as_deref(), Some(suggested));
        let words: Vec<_> = suggested.split(' ').collect();
        sandbox.ok(&[&["fork", "--dry-run"], &words[..]].concat());
    }
}

#[test]
fn help_names_every_verb() {
    snapshot!(Sandbox::new().ok(&["--help"]));
}

#[test]
fn every_verb_has_examples_that_begin_with_it() {
    let sandbox = Sandbox::new();
    let help = sandbox.ok(&["--help"]);
    let verbs: Vec<_> = help
        .lines()
        .take_while(|line| *line != "Options:")
        .filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next())
        .filter(|verb| *verb != "help")
        .collect();
    assert_eq!(verbs.len(), 58, "{verbs:?}");
    for verb in verbs {
        let help = sandbox.ok(&[verb, "--help"]);
        let examples = help.split("Examples:").nth(1).unwrap_or_default();
        assert!(examples.contains(&format!("forklore {verb}")), "{verb}: {help}");
    }
    snapshot!(sandbox.ok(&["fork", "--help"]));
}

#[test]
fn the_version_is_the_packages() {
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.ok(&["--version"]), format!("forklore {}\n", env!("CARGO_PKG_VERSION")));
}
