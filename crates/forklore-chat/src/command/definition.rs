//! The type that defines a slash command. The file of each command contains one value of it.

use crate::Result;
use crate::chat::Chat;
use crate::input::{Argument, OfferedCommand};

/// A slash command.
pub(crate) struct Command {
    /// The name of the command, without the slash.
    pub(crate) name: &'static str,
    /// The arguments of the command, as the help shows them.
    pub(crate) usage: &'static str,
    /// The one-line description of the command in the help.
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

impl Command {
    /// Returns the part of the command's definition that the completion of typed commands needs.
    pub(crate) fn offer(&self) -> OfferedCommand {
        let Self { name, help, argument, options, .. } = *self;
        OfferedCommand { name, help, argument, options }
    }
}

/// What the conversation does after a command has run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// The conversation reads the next line.
    Line,
    /// The conversation ends.
    End,
}
