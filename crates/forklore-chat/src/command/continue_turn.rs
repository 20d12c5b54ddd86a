//! `/continue`: continues a turn that was interrupted or that failed.

use super::definition::{Command, Next};
use crate::Result;
use crate::chat::Chat;
use crate::input::Argument;

pub(super) const COMMAND: Command = Command {
    name: "continue",
    usage: "",
    help: "go on with a turn that was interrupted or broken off",
    argument: Argument::Text,
    options: &[],
    examples: &[("/continue", "after Ctrl-C, a failure, or a killed process")],
    run,
};

fn run(chat: &mut Chat<'_>, _: &str) -> Result<Next> {
    chat.turn(None)?;
    Ok(Next::Line)
}
