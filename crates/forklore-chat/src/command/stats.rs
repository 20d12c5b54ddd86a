//! `/stats`: what a session holds and costs.

use super::{Command, Next, Takes};
use crate::Result;
use crate::chat::Chat;

pub(super) const COMMAND: Command = Command {
    name: "stats",
    usage: "",
    does: "show what this session holds, and what its models cost",
    takes: Takes::Text,
    options: &[],
    examples: &[("/stats", "tokens of its own, and those it inherited")],
    run,
};

fn run(chat: &mut Chat<'_>, _: &str) -> Result<Next> {
    let id = chat.header()?.id;
    chat.verb(&["stats", id.as_str()]);
    Ok(Next::Line)
}
