//! The list of the slash commands of a conversation. Each command has a file of its own.
//!
//! A command that changes the conversation calls an operation of the host. If the program has a
//! subcommand with the same output, the slash command requests this output from the program
//! ([`Views`](crate::Views)). Other slash commands print on the screen themselves.

mod arguments;
mod attach;
mod back;
mod branches;
mod bring;
mod compact;
mod continue_turn;
pub(crate) mod definition;
mod delegate;
mod diff;
mod explore;
mod export;
mod file_changes;
mod fork;
mod help;
mod history;
mod inspect;
mod model;
mod new;
pub(crate) mod parse;
mod quit;
mod replay;
mod resume;
mod rewind;
mod search;
mod stats;
mod summarize;
mod switch;
mod tree;
mod turns;
mod undo;

pub use explore::{ExploreOptions, best, in_trash};

use definition::Command;

/// All slash commands of a conversation, in the order in which the help shows them.
pub(crate) const COMMANDS: &[Command] = &[
    fork::COMMAND,
    rewind::COMMAND,
    undo::COMMAND,
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
    search::COMMAND,
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

/// Returns the name of the command that a mistyped name probably means: the first command that
/// begins with the mistyped name, or else the most similar command. Returns `None` if no command is
/// similar enough.
pub(crate) fn nearest(name: &str) -> Option<&'static str> {
    let names = COMMANDS.iter().map(|command| command.name);
    let begins = |command: &&str| name.len() > 1 && command.starts_with(name);
    let distance = |command: &&str| strsim::damerau_levenshtein(command, name);
    let near = names.clone().min_by_key(distance);
    let near = near.filter(|command| distance(command) <= name.len().min(5) / 2);
    names.clone().find(begins).or(near)
}

#[cfg(test)]
mod tests;
