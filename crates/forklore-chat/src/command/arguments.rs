//! Parses the arguments of a command.

use clap::error::ContextKind;
use forklore_core::Selector;

use super::definition::Command;
use crate::{Error, Result};

/// Splits the text after a command's name into arguments, as a POSIX shell does: quotes join words.
pub(super) fn words(rest: &str) -> Result<Vec<String>> {
    shlex::split(rest).ok_or_else(|| Error::invalid("a quote is not closed"))
}

/// Parses the text after a command's name as the arguments of the command.
pub(super) fn arguments<A: clap::Parser>(command: &Command, rest: &str) -> Result<A> {
    arguments_of(command, words(rest)?)
}

/// Parses the arguments of a command, which are already split into `words`.
pub(super) fn arguments_of<A: clap::Parser>(command: &Command, words: Vec<String>) -> Result<A> {
    A::try_parse_from(words).map_err(|error| {
        let usage = format!("/{} {}", command.name, command.usage);
        let message = error.to_string();
        let message = message.lines().next().unwrap_or_default();
        let message = message.strip_prefix("error: ").unwrap_or(message);
        let meant = error.get(ContextKind::SuggestedArg);
        let meant = meant.map(|meant| format!("; did you mean {meant}?")).unwrap_or_default();
        Error::invalid(format!("{message}{meant}\n{}", usage.trim_end()))
    })
}

/// Parses a cut (docs/semantics.md, Where to cut). A number alone, `N`, means `message:N`, the
/// number that `/turns` shows.
pub(super) fn cut(word: &str) -> Result<Selector> {
    match word.parse::<i64>() {
        Ok(number) => Ok(Selector::Message(number)),
        Err(_) => word.parse().map_err(|error| Error::invalid(format!("{error}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::super::fork;
    use super::*;

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
        let usage = "/fork [CUT] [--label NAME] [--id-style STYLE] [--stay]";
        assert_eq!(
            wrong("5 --lable x"),
            format!("unexpected argument '--lable' found; did you mean --label?\n{usage}")
        );
        assert_eq!(wrong("1 2"), format!("unexpected argument '2' found\n{usage}"));
        assert!(wrong("--label").contains("a value is required for '--label <LABEL>'"));
        assert_eq!(wrong("'open"), "a quote is not closed");
    }
}
