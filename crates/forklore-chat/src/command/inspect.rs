//! `/inspect`: what the model would receive.

use super::{Command, Next, Takes};
use crate::Result;
use crate::chat::Chat;

pub(super) const COMMAND: Command = Command {
    name: "inspect",
    usage: "",
    does: "show what the model would receive now",
    takes: Takes::Text,
    options: &[],
    examples: &[("/inspect", "with summaries applied, as a request has it")],
    run,
};

fn run(chat: &mut Chat<'_>, _: &str) -> Result<Next> {
    let id = chat.header()?.id;
    chat.verb(&["inspect", id.as_str()]);
    Ok(Next::Line)
}
