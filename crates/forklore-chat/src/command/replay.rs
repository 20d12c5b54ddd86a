//! `/replay`: shows the conversation so far.

use super::arguments::{arguments, cut};
use super::definition::{Command, Next};
use crate::chat::Chat;
use crate::input::Argument;
use crate::{Result, View};

pub(super) const COMMAND: Command = Command {
    name: "replay",
    usage: "[CUT]",
    help: "show what was said, up to CUT",
    argument: Argument::Cut,
    options: &[],
    examples: &[("/replay", "all of it"), ("/replay turn:2", "the first two turns")],
    run,
};

#[derive(clap::Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
struct Arguments {
    #[arg(allow_negative_numbers = true)]
    cut: Option<String>,
}

fn run(chat: &mut Chat<'_>, rest: &str) -> Result<Next> {
    let Arguments { cut: up_to } = arguments(&COMMAND, rest)?;
    let here = chat.header()?;
    let up_to = up_to.map(|word| cut(&word)).transpose()?;
    chat.view(View::Replay(here, up_to));
    Ok(Next::Line)
}
