use super::parse::{Parsed, parse};
use super::*;

fn name(line: &str) -> Option<(&'static str, String)> {
    match parse(line) {
        Parsed::Command(at, rest) => Some((COMMANDS[at].name, rest.to_owned())),
        _ => None,
    }
}

#[test]
fn a_line_is_a_prompt_or_a_command() {
    assert_eq!(parse("  "), Parsed::Nothing);
    assert_eq!(parse(" hello\nyou "), Parsed::Prompt("hello\nyou".into()));
    assert_eq!(parse("//fork is a word"), Parsed::Prompt("/fork is a word".into()));
    assert_eq!(parse("/etc/hosts is a file"), Parsed::Prompt("/etc/hosts is a file".into()));
    assert_eq!(parse("/frok 3"), Parsed::Unknown("frok"));
    assert_eq!(name("/fork"), Some(("fork", String::new())));
    assert_eq!(name(" /delegate  look at  this "), Some(("delegate", "look at  this".into())));
}

#[test]
fn names_are_unique() {
    let mut names: Vec<_> = COMMANDS.iter().map(|command| command.name).collect();
    names.sort_unstable();
    let all = names.len();
    names.dedup();
    assert_eq!(names.len(), all);
}

#[test]
fn the_nearest_command_is_meant() {
    assert_eq!(nearest("frok"), Some("fork"));
    assert_eq!(nearest("brnaches"), Some("branches"));
    assert_eq!(nearest("sum"), Some("summarize"));
    assert_eq!(nearest("x"), None);
    assert_eq!(nearest("nonsense"), None);
}

#[test]
fn every_command_has_examples_that_begin_with_it() {
    for command in COMMANDS {
        assert!(!command.examples.is_empty(), "/{}", command.name);
        for (line, _) in command.examples {
            assert_eq!(name(line).unwrap().0, command.name);
        }
    }
}
