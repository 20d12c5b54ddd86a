//! Parses a line that the user typed: a prompt, or a command with its arguments.

use clap::error::ContextKind;
use forklore_core::Selector;

use super::{COMMANDS, Command};
use crate::{Error, Result};

/// A parsed line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Parsed<'a> {
    /// An empty line.
    Nothing,
    /// A prompt, which starts a turn.
    Prompt(String),
    /// A command, as an index into [`COMMANDS`], and the text after its name.
    Command(usize, &'a str),
    /// The name of a command that does not exist.
    Unknown(&'a str),
}

/// Parses a line. A line that begins with two slashes is a prompt that begins with one.
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
    // A pasted path is a prompt, not a command.
    if name.contains('/') {
        return Parsed::Prompt(text.to_owned());
    }
    match COMMANDS.iter().position(|command| command.name == name) {
        Some(at) => Parsed::Command(at, rest.trim()),
        None => Parsed::Unknown(name),
    }
}

/// Returns the command that is most similar to a mistyped name, if one is similar enough.
pub(crate) fn nearest(name: &str) -> Option<&'static str> {
    let names = COMMANDS.iter().map(|command| command.name);
    let begins = |command: &&str| name.len() > 1 && command.starts_with(name);
    let distance = |command: &&str| strsim::damerau_levenshtein(command, name);
    let near = names.clone().min_by_key(distance);
    let near = near.filter(|command| distance(command) <= name.len().min(5) / 2);
    names.clone().find(begins).or(near)
}

/// Splits the text after a command into words. Quotes join words.
pub(super) fn words(rest: &str) -> Result<Vec<String>> {
    shlex::split(rest).ok_or_else(|| Error::invalid("a quote is not closed"))
}

/// Parses the text after a command as its arguments.
pub(super) fn arguments<A: clap::Parser>(command: &Command, rest: &str) -> Result<A> {
    arguments_of(command, words(rest)?)
}

/// Parses the arguments of a command from words.
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

/// Parses a cut. A number alone means a message number, as `/turns` shows it (docs/semantics.md,
/// Where to cut).
pub(super) fn cut(word: &str) -> Result<Selector> {
    match word.parse::<i64>() {
        Ok(number) => Ok(Selector::Message(number)),
        Err(_) => word.parse().map_err(|error| Error::invalid(format!("{error}"))),
    }
}

/// Formats a number of things, with a plural `s` where needed.
pub(crate) fn count(number: u64, thing: &str) -> String {
    if number == 1 { format!("1 {thing}") } else { format!("{number} {thing}s") }
}
