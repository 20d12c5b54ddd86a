//! Help that teaches.

use crate::place::{Place, snapshot};

#[test]
fn alone_it_says_what_to_do_first() {
    let place = Place::new();
    snapshot!(place.ok(&[]));
    assert!(!place.store().exists());
}

#[test]
fn help_names_every_verb() {
    snapshot!(Place::new().ok(&["--help"]));
}

#[test]
fn every_verb_has_examples_that_begin_with_it() {
    let place = Place::new();
    let help = place.ok(&["--help"]);
    let verbs: Vec<_> = help
        .lines()
        .take_while(|line| *line != "Options:")
        .filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next())
        .filter(|verb| *verb != "help")
        .collect();
    assert_eq!(verbs.len(), 33, "{verbs:?}");
    for verb in verbs {
        let help = place.ok(&[verb, "--help"]);
        let examples = help.split("Examples:").nth(1).unwrap_or_default();
        assert!(examples.contains(&format!("forklore {verb}")), "{verb}: {help}");
    }
    snapshot!(place.ok(&["fork", "--help"]));
}

#[test]
fn the_version_is_the_packages() {
    let place = Place::new();
    assert_eq!(place.ok(&["--version"]), format!("forklore {}\n", env!("CARGO_PKG_VERSION")));
}
