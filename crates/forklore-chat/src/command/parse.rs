//! Reading what a person typed: a prompt, or a command with its arguments.

use clap::error::ContextKind;
use forklore_core::Selector;

use super::{COMMANDS, Command};
use crate::{Error, Result};

/// What a line asks for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Parsed<'a> {
    /// Nothing.
    Nothing,
    /// A turn with this prompt.
    Prompt(String),
    /// A command, by its index in [`COMMANDS`], and the text after its name.
    Command(usize, &'a str),
    /// A command that does not exist.
    Unknown(&'a str),
}

/// Reads a line. Two slashes begin a prompt that begins with one.
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
    // A path that is pasted belongs to a prompt.
    if name.contains('/') {
        return Parsed::Prompt(text.to_owned());
    }
    match COMMANDS.iter().position(|command| command.name == name) {
        Some(at) => Parsed::Command(at, rest.trim()),
        None => Parsed::Unknown(name),
    }
}

/// The command that a mistyped name is close to.
pub(crate) fn nearest(name: &str) -> Option<&'static str> {
    let names = COMMANDS.iter().map(|command| command.name);
    let begins = |command: &&str| name.len() > 1 && command.starts_with(name);
    let distance = |command: &&str| strsim::damerau_levenshtein(command, name);
    let near = names.clone().min_by_key(distance);
    let near = near.filter(|command| distance(command) <= name.len().min(5) / 2);
    names.clone().find(begins).or(near)
}

/// The words after a command. Quotes join words.
pub(super) fn words(rest: &str) -> Result<Vec<String>> {
    shlex::split(rest).ok_or_else(|| Error::invalid("a quote is not closed"))
}

/// The arguments of a command.
pub(super) fn arguments<A: clap::Parser>(command: &Command, rest: &str) -> Result<A> {
    arguments_of(command, words(rest)?)
}

/// The arguments of a command, as words.
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

/// A cut. A number alone is that of a message, as `/turns` shows it (semantics, section 5).
pub(super) fn cut(word: &str) -> Result<Selector> {
    match word.parse::<i64>() {
        Ok(number) => Ok(Selector::Message(number)),
        Err(_) => word.parse().map_err(|error| Error::invalid(format!("{error}"))),
    }
}

/// A count of things.
pub(crate) fn count(number: u64, thing: &str) -> String {
    if number == 1 { format!("1 {thing}") } else { format!("{number} {thing}s") }
}
