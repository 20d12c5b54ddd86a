//! `/tree`: this family with its branches.

use super::{Command, Next, Takes};
use crate::Result;
use crate::chat::Chat;

pub(super) const COMMAND: Command = Command {
    name: "tree",
    usage: "",
    does: "draw this family with its branches",
    takes: Takes::Text,
    options: &[],
    examples: &[("/tree", "where each branch left the other")],
    run,
};

fn run(chat: &mut Chat<'_>, _: &str) -> Result<Next> {
    let id = chat.header()?.id;
    chat.verb(&["tree", id.as_str()]);
    Ok(Next::Line)
}
