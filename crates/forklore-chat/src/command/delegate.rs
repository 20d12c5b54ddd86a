//! `/delegate`: a piece of work for a sub-agent.

use super::{Command, Next, Takes};
use crate::chat::Chat;
use crate::{Error, Result};

pub(super) const COMMAND: Command = Command {
    name: "delegate",
    usage: "TASK",
    does: "let a sub-agent do a task, and tell this session its result",
    takes: Takes::Text,
    options: &[],
    examples: &[("/delegate Count the words in this sentence.", "in a session of its own")],
    run,
};

fn run(chat: &mut Chat<'_>, rest: &str) -> Result<Next> {
    if rest.is_empty() {
        return Err(Error::words("/delegate TASK"));
    }
    chat.header()?;
    chat.delegate(rest)?;
    Ok(Next::Line)
}
