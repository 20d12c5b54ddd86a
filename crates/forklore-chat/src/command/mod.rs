//! The commands of a conversation, one a file: what begins with a slash.
//!
//! What a verb of the program shows, that verb shows here too ([`Program::verb`]); what changes the
//! conversation is done by the kernel.
//!
//! [`Program::verb`]: crate::Program::verb

mod attach;
mod back;
mod branches;
mod bring;
mod compact;
mod delegate;
mod diff;
mod explore;
mod export;
mod fork;
mod go_on;
mod help;
mod history;
mod inspect;
mod model;
mod new;
mod quit;
mod replay;
mod resume;
mod rewind;
mod stats;
mod summarize;
mod switch;
mod tree;
mod turns;

use forklore_core::Selector;

pub(crate) use fork::count;

use crate::chat::Chat;
use crate::{Error, Result};

/// A command.
pub(crate) struct Command {
    /// Its name, without the slash.
    pub(crate) name: &'static str,
    /// What stands behind it.
    pub(crate) usage: &'static str,
    /// What it does, in a few words.
    pub(crate) does: &'static str,
    /// What completes it.
    pub(crate) takes: Takes,
    /// Its options.
    pub(crate) options: &'static [&'static str],
    /// Lines to type, each with what it does.
    pub(crate) examples: &'static [(&'static str, &'static str)],
    /// Does it; `rest` is what stands behind the name.
    pub(crate) run: fn(chat: &mut Chat<'_>, rest: &str) -> Result<Next>,
}

/// What stands behind a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Takes {
    /// Nothing, or any text.
    Text,
    /// A session.
    Session,
    /// A place in this one.
    Cut,
    /// A model.
    Model,
    /// A file.
    File,
    /// A command.
    Command,
}

/// What comes after a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// The next line.
    Line,
    /// The end of the conversation.
    End,
}

/// All of them, in the order in which they are explained.
pub(crate) const COMMANDS: &[Command] = &[
    fork::COMMAND,
    rewind::COMMAND,
    back::COMMAND,
    switch::COMMAND,
    branches::COMMAND,
    tree::COMMAND,
    diff::COMMAND,
    bring::COMMAND,
    explore::COMMAND,
    attach::COMMAND,
    turns::COMMAND,
    replay::COMMAND,
    inspect::COMMAND,
    stats::COMMAND,
    history::COMMAND,
    resume::COMMAND,
    go_on::COMMAND,
    new::COMMAND,
    model::COMMAND,
    compact::COMMAND,
    summarize::COMMAND,
    delegate::COMMAND,
    export::COMMAND,
    help::COMMAND,
    quit::COMMAND,
];

/// What a line asks for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Asked<'a> {
    /// Nothing.
    Nothing,
    /// To say this.
    Say(String),
    /// A command, by its place in [`COMMANDS`], and what stands behind it.
    Command(usize, &'a str),
    /// A command that there is not.
    Unknown(&'a str),
}

/// Reads a line. Two slashes begin a text that begins with one.
pub(crate) fn parse(line: &str) -> Asked<'_> {
    let text = line.trim();
    if text.is_empty() {
        return Asked::Nothing;
    }
    let Some(rest) = text.strip_prefix('/') else { return Asked::Say(text.to_owned()) };
    if rest.starts_with('/') {
        return Asked::Say(rest.to_owned());
    }
    let (name, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    // A path that is pasted is something that is said.
    if name.contains('/') {
        return Asked::Say(text.to_owned());
    }
    match COMMANDS.iter().position(|command| command.name == name) {
        Some(at) => Asked::Command(at, rest.trim()),
        None => Asked::Unknown(name),
    }
}

/// The command that a mistyped name was meant for, if there is one near.
pub(crate) fn nearest(name: &str) -> Option<&'static str> {
    let names = COMMANDS.iter().map(|command| command.name);
    let begins = |known: &&str| name.len() > 1 && known.starts_with(name);
    let far = |known: &&str| strsim::damerau_levenshtein(known, name);
    let near = names.clone().min_by_key(far).filter(|known| far(known) <= name.len().min(5) / 2);
    names.clone().find(begins).or(near)
}

/// The words behind a command; quotes keep words together.
pub(crate) fn words(rest: &str) -> Result<Vec<String>> {
    shlex::split(rest).ok_or_else(|| Error::words("a quote is not closed"))
}

/// Takes an option without a value out of the words.
pub(crate) fn flag(words: &mut Vec<String>, name: &str) -> bool {
    let before = words.len();
    words.retain(|word| word != name);
    words.len() < before
}

/// Takes an option with its value out of the words.
pub(crate) fn option(words: &mut Vec<String>, name: &str) -> Result<Option<String>> {
    let Some(at) = words.iter().position(|word| word == name) else { return Ok(None) };
    words.remove(at);
    if at < words.len() {
        return Ok(Some(words.remove(at)));
    }
    Err(Error::words(format!("{name} needs a value")))
}

/// The one word that may be left.
pub(crate) fn at_most_one(command: &Command, words: Vec<String>) -> Result<Option<String>> {
    let mut words = words.into_iter();
    let first = words.next();
    match words.next() {
        None => Ok(first),
        Some(_) => Err(Error::words(format!("/{} {}", command.name, command.usage))),
    }
}

/// A place: a number alone is that of a message, as `/turns` shows it (SPEC 5).
pub(crate) fn cut(word: &str) -> Result<Selector> {
    let selector = match word.parse::<i64>() {
        Ok(number) => Selector::Message(number),
        Err(_) => word.parse().map_err(|error| Error::words(format!("{error}")))?,
    };
    Ok(selector)
}

#[cfg(test)]
mod tests;
