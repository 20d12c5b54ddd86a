//! `/quit`: ends the conversation.

use super::definition::{Command, Next};
use crate::Result;
use crate::chat::Chat;
use crate::input::Argument;

pub(super) const COMMAND: Command = Command {
    name: "quit",
    usage: "",
    help: "leave; forklore resume goes on",
    argument: Argument::Text,
    options: &[],
    examples: &[("/quit", "so does Ctrl-D")],
    run,
};

fn run(_: &mut Chat<'_>, _: &str) -> Result<Next> {
    Ok(Next::End)
}
