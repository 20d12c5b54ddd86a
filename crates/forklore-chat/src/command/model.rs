//! `/model`: selects the model that answers.

use super::arguments::arguments;
use super::definition::{Command, Next};
use crate::Result;
use crate::chat::Chat;
use crate::input::Argument;
use crate::screen::Tone;

pub(super) const COMMAND: Command = Command {
    name: "model",
    usage: "[NAME]",
    help: "let another model answer; without a name, list them",
    argument: Argument::Model,
    options: &[],
    examples: &[("/model", "which there are"), ("/model large", "let this one answer")],
    run,
};

#[derive(clap::Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
struct Arguments {
    name: Option<String>,
}

fn run(chat: &mut Chat<'_>, rest: &str) -> Result<Next> {
    let Arguments { name } = arguments(&COMMAND, rest)?;
    if let Some(name) = name {
        chat.conversation.use_model(&name)?;
        chat.screen.words(&[(Tone::Good, "Now answers: "), (Tone::Strong, &name)]);
        return Ok(Next::Line);
    }
    let current = chat.conversation.model();
    for (name, described) in chat.models() {
        let mark = if name == current { "* " } else { "  " };
        let name = format!("{name:<16} ");
        chat.screen.words(&[(Tone::Good, mark), (Tone::Strong, &name), (Tone::Dim, &described)]);
    }
    Ok(Next::Line)
}
