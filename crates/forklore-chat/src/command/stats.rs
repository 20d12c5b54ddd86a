//! `/stats`: shows the size, usage and cost of this session.

use super::definition::{Command, Next};
use crate::chat::Chat;
use crate::input::Argument;
use crate::{Result, View};

pub(super) const COMMAND: Command = Command {
    name: "stats",
    usage: "",
    help: "show what this session holds, and what its models cost",
    argument: Argument::Text,
    options: &[],
    examples: &[("/stats", "tokens of its own, and those it inherited")],
    run,
};

fn run(chat: &mut Chat<'_>, _: &str) -> Result<Next> {
    let here = chat.header()?;
    chat.view(View::Stats(here));
    Ok(Next::Line)
}
