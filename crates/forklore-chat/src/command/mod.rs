//! The commands of a conversation, one a file. They begin with a slash.
//!
//! A command that changes the conversation calls a verb of the host. A command that only shows
//! something asks the program for the view ([`Views`](crate::Views)).

mod attach;
mod back;
mod branches;
mod bring;
mod compact;
mod continue_turn;
mod delegate;
mod diff;
mod explore;
mod export;
mod fork;
mod help;
mod history;
mod inspect;
mod model;
mod new;
mod parse;
mod quit;
mod replay;
mod resume;
mod rewind;
mod stats;
mod summarize;
mod switch;
mod tree;
mod turns;

pub use explore::ExploreOptions;
pub(crate) use parse::{Parsed, count, nearest, parse};
use parse::{arguments, arguments_of, cut, words};

use crate::Result;
use crate::chat::Chat;

/// A command.
pub(crate) struct Command {
    /// Its name, without the slash.
    pub(crate) name: &'static str,
    /// Its arguments, for people.
    pub(crate) usage: &'static str,
    /// What it does, in a few words.
    pub(crate) help: &'static str,
    /// What completes its argument.
    pub(crate) argument: Argument,
    /// Its options.
    pub(crate) options: &'static [&'static str],
    /// Lines to type, each with what it does.
    pub(crate) examples: &'static [(&'static str, &'static str)],
    /// Runs it with the text after its name.
    pub(crate) run: fn(chat: &mut Chat<'_>, rest: &str) -> Result<Next>,
}

/// The argument of a command, for completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Argument {
    /// None, or any text.
    Text,
    /// A session.
    Session,
    /// A cut of this session.
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
    continue_turn::COMMAND,
    new::COMMAND,
    model::COMMAND,
    compact::COMMAND,
    summarize::COMMAND,
    delegate::COMMAND,
    export::COMMAND,
    help::COMMAND,
    quit::COMMAND,
];

#[cfg(test)]
mod tests;
