//! `/history`: the conversations of this folder.

use super::{Command, Next, Takes};
use crate::Result;
use crate::chat::Chat;

pub(super) const COMMAND: Command = Command {
    name: "history",
    usage: "",
    does: "list the conversations of this folder",
    takes: Takes::Text,
    options: &[],
    examples: &[("/history", "the last one first; /resume goes there")],
    run,
};

fn run(chat: &mut Chat<'_>, _: &str) -> Result<Next> {
    chat.verb(&["list"]);
    Ok(Next::Line)
}
