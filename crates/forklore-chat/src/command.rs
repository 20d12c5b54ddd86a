//! The slash commands of a conversation, one per file.
//!
//! A command that changes the conversation calls an operation of the host. A command that only
//! shows data requests a view from the program ([`Views`](crate::Views)).

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

/// A slash command.
pub(crate) struct Command {
    /// The name of the command, without the slash.
    pub(crate) name: &'static str,
    /// The arguments of the command, as the help shows them.
    pub(crate) usage: &'static str,
    /// The description of the command in the help, of one line.
    pub(crate) help: &'static str,
    /// The kind of the command's argument, for completion.
    pub(crate) argument: Argument,
    /// The options that the command accepts, each with its leading dashes.
    pub(crate) options: &'static [&'static str],
    /// Example lines of the help, each with a description.
    pub(crate) examples: &'static [(&'static str, &'static str)],
    /// Runs the command. `rest` is the text after the command's name.
    pub(crate) run: fn(chat: &mut Chat<'_>, rest: &str) -> Result<Next>,
}

/// The kind of argument that a command takes, for completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Argument {
    /// The command takes no argument or any text, so nothing is completed.
    Text,
    /// A session: its label or id.
    Session,
    /// A cut of the current session.
    Cut,
    /// The name of a configured model.
    Model,
    /// The path of a file.
    File,
    /// The name of another command.
    Command,
}

/// What the conversation does after a command has run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// The conversation reads the next line.
    Line,
    /// The conversation ends.
    End,
}

/// All commands, in the order in which the help shows them.
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
