use forklore_core::Selector;

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
fn a_number_alone_is_a_message() {
    assert_eq!(cut("3").unwrap(), Selector::Message(3));
    assert_eq!(cut("-1").unwrap(), Selector::Message(-1));
    assert_eq!(cut("turn:2").unwrap(), Selector::Turn(2));
    assert_eq!(cut("nonsense").unwrap_err().kind(), forklore_core::ErrorKind::InvalidArgs);
}

#[derive(Debug, PartialEq, clap::Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
struct Example {
    #[arg(allow_negative_numbers = true)]
    cut: Option<String>,
    #[arg(long)]
    label: Option<String>,
    #[arg(long)]
    stay: bool,
}

#[test]
fn arguments_are_read_and_what_is_wrong_is_named() {
    let read = |rest: &str| arguments::<Example>(&fork::COMMAND, rest);
    let example = |cut: Option<&str>, label: Option<&str>, stay| Example {
        cut: cut.map(str::to_owned),
        label: label.map(str::to_owned),
        stay,
    };
    assert_eq!(read("").unwrap(), example(None, None, false));
    let all = "-1 --label 'plan b' --stay";
    assert_eq!(read(all).unwrap(), example(Some("-1"), Some("plan b"), true));
    let wrong = |rest: &str| read(rest).unwrap_err().to_string();
    let usage = "/fork [CUT] [--label NAME] [--stay]";
    assert_eq!(
        wrong("5 --lable x"),
        format!("unexpected argument '--lable' found; did you mean --label?\n{usage}")
    );
    assert_eq!(wrong("1 2"), format!("unexpected argument '2' found\n{usage}"));
    assert!(wrong("--label").contains("a value is required for '--label <LABEL>'"));
    assert_eq!(wrong("'open"), "a quote is not closed");
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
