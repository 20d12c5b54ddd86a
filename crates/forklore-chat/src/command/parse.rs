//! Parses a line that the user typed: a prompt, or a command with its arguments.

use clap::error::ContextKind;
use forklore_core::Selector;

use super::{COMMANDS, Command};
use crate::{Error, Result};

/// The meaning of a line that the user entered at the prompt.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Parsed<'a> {
    /// The line is empty or only white space.
    Nothing,
    /// The line is a prompt, which starts a turn.
    Prompt(String),
    /// The line is a command: its index in [`COMMANDS`], and the text after its name.
    Command(usize, &'a str),
    /// The line names a command that does not exist.
    Unknown(&'a str),
}

/// Parses a line that the user entered at the prompt. The line `//text` is the prompt `/text`.
pub(crate) fn parse(line: &str) -> Parsed<'_> {
    let text = line.trim();
    if text.is_empty() {
        return Parsed::Nothing;
    }
    let Some(rest) = text.strip_prefix('/') else { return Parsed::Prompt(text.to_owned()) };
    if rest.starts_with('/') {
        return Parsed::Prompt(rest.to_owned());
    }
    let (name, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    // A name that contains a slash is a pasted path, so the line is a prompt.
    if name.contains('/') {
        return Parsed::Prompt(text.to_owned());
    }
    match COMMANDS.iter().position(|command| command.name == name) {
        Some(at) => Parsed::Command(at, rest.trim()),
        None => Parsed::Unknown(name),
    }
}

/// Returns the name of the command that is most similar to a mistyped name. Returns `None` if no
/// command is similar enough.
pub(crate) fn nearest(name: &str) -> Option<&'static str> {
    let names = COMMANDS.iter().map(|command| command.name);
    let begins = |command: &&str| name.len() > 1 && command.starts_with(name);
    let distance = |command: &&str| strsim::damerau_levenshtein(command, name);
    let near = names.clone().min_by_key(distance);
    let near = near.filter(|command| distance(command) <= name.len().min(5) / 2);
    names.clone().find(begins).or(near)
}

/// Splits the text after a command's name into arguments, as a POSIX shell does: quotes join words.
pub(super) fn words(rest: &str) -> Result<Vec<String>> {
    shlex::split(rest).ok_or_else(|| Error::invalid("a quote is not closed"))
}

/// Parses the text after a command's name as the arguments of the command.
pub(super) fn arguments<A: clap::Parser>(command: &Command, rest: &str) -> Result<A> {
    arguments_of(command, words(rest)?)
}

/// Parses the arguments of a command that are already split.
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

/// Formats a count with its noun. The plural adds an `s`: `1 turn`, `2 turns`.
pub(crate) fn count(number: u64, thing: &str) -> String {
    if number == 1 { format!("1 {thing}") } else { format!("{number} {thing}s") }
}
