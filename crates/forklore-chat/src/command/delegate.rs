//! `/delegate`: runs a task in a sub-agent.

use super::definition::{Command, Next};
use crate::chat::Chat;
use crate::input::Argument;
use crate::{Error, Result};

pub(super) const COMMAND: Command = Command {
    name: "delegate",
    usage: "TASK",
    help: "let a sub-agent do a task, and tell this session its result",
    argument: Argument::Text,
    options: &[],
    examples: &[("/delegate Count the words in this sentence.", "in a session of its own")],
    run,
};

fn run(chat: &mut Chat<'_>, rest: &str) -> Result<Next> {
    if rest.is_empty() {
        return Err(Error::invalid("/delegate TASK"));
    }
    chat.delegate(rest)?;
    Ok(Next::Line)
}
