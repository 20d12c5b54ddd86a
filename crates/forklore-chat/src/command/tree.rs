//! `/tree`: draws the tree of this family.

use super::definition::{Command, Next};
use crate::chat::Chat;
use crate::input::Argument;
use crate::{Result, View};

pub(super) const COMMAND: Command = Command {
    name: "tree",
    usage: "",
    help: "draw this family with its branches",
    argument: Argument::Text,
    options: &[],
    examples: &[("/tree", "where each branch left the other")],
    run,
};

fn run(chat: &mut Chat<'_>, _: &str) -> Result<Next> {
    let here = chat.header()?;
    chat.view(View::Tree(here));
    Ok(Next::Line)
}
