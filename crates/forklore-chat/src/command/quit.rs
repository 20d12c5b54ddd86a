//! `/quit`: the end.

use super::{Command, Next, Takes};
use crate::Result;
use crate::chat::Chat;

pub(super) const COMMAND: Command = Command {
    name: "quit",
    usage: "",
    does: "leave; forklore resume goes on",
    takes: Takes::Text,
    options: &[],
    examples: &[("/quit", "so does Ctrl-D")],
    run,
};

fn run(_: &mut Chat<'_>, _: &str) -> Result<Next> {
    Ok(Next::End)
}
