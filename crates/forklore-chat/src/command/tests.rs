use super::*;

fn name(line: &str) -> Option<(&'static str, String)> {
    match parse(line) {
        Asked::Command(at, rest) => Some((COMMANDS[at].name, rest.to_owned())),
        _ => None,
    }
}

#[test]
fn a_line_is_said_or_a_command() {
    assert_eq!(parse("  "), Asked::Nothing);
    assert_eq!(parse(" hello\nyou "), Asked::Say("hello\nyou".into()));
    assert_eq!(parse("//fork is a word"), Asked::Say("/fork is a word".into()));
    assert_eq!(parse("/etc/hosts is a file"), Asked::Say("/etc/hosts is a file".into()));
    assert_eq!(parse("/frok 3"), Asked::Unknown("frok"));
    assert_eq!(name("/fork"), Some(("fork", String::new())));
    assert_eq!(name(" /delegate  look at  this "), Some(("delegate", "look at  this".into())));
}

#[test]
fn a_number_alone_is_a_message() {
    assert_eq!(cut("3").unwrap(), Selector::Message(3));
    assert_eq!(cut("-1").unwrap(), Selector::Message(-1));
    assert_eq!(cut("turn:2").unwrap(), Selector::Turn(2));
    assert_eq!(cut("nonsense").unwrap_err().kind(), forklore_core::ErrorKind::InvalidArgs);
}

#[test]
fn options_are_taken_out_of_the_words() {
    let mut given = words("3 --label 'plan b' --stay").unwrap();
    assert!(flag(&mut given, "--stay") && !flag(&mut given, "--stay"));
    assert_eq!(option(&mut given, "--label").unwrap().as_deref(), Some("plan b"));
    assert_eq!(given, ["3"]);
    assert!(words("'open").is_err());
    assert!(option(&mut words("--label").unwrap(), "--label").is_err());
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
