//! `/branches`: the branches of this family.

use super::{Command, Next, Takes};
use crate::Result;
use crate::chat::Chat;

pub(super) const COMMAND: Command = Command {
    name: "branches",
    usage: "",
    does: "list the branches of this family",
    takes: Takes::Text,
    options: &[],
    examples: &[("/branches", "with what each has of its own")],
    run,
};

fn run(chat: &mut Chat<'_>, _: &str) -> Result<Next> {
    let id = chat.header()?.id;
    chat.verb(&["branches", id.as_str()]);
    Ok(Next::Line)
}
