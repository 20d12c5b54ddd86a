//! `/history`: lists the conversations of this folder.

use super::definition::{Command, Next};
use crate::chat::Chat;
use crate::input::Argument;
use crate::{Result, View};

pub(super) const COMMAND: Command = Command {
    name: "history",
    usage: "",
    help: "list the conversations of this folder",
    argument: Argument::Text,
    options: &[],
    examples: &[("/history", "the last one first; /resume goes there")],
    run,
};

fn run(chat: &mut Chat<'_>, _: &str) -> Result<Next> {
    chat.view(View::List);
    Ok(Next::Line)
}
