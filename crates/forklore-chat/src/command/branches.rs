//! `/branches`: lists the branches of this family.

use super::definition::{Command, Next};
use crate::chat::Chat;
use crate::input::Argument;
use crate::{Result, View};

pub(super) const COMMAND: Command = Command {
    name: "branches",
    usage: "",
    help: "list the branches of this family",
    argument: Argument::Text,
    options: &[],
    examples: &[("/branches", "with what each has of its own")],
    run,
};

fn run(chat: &mut Chat<'_>, _: &str) -> Result<Next> {
    let here = chat.header()?;
    chat.view(View::Branches(here));
    Ok(Next::Line)
}
