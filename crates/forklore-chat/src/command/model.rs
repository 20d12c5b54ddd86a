//! `/model`: who answers.

use super::{Command, Next, Takes, at_most_one, words};
use crate::Result;
use crate::chat::Chat;
use crate::screen::Tone;

pub(super) const COMMAND: Command = Command {
    name: "model",
    usage: "[NAME]",
    does: "let another model answer; without a name, list them",
    takes: Takes::Model,
    options: &[],
    examples: &[("/model", "which there are"), ("/model large", "let this one answer")],
    run,
};

fn run(chat: &mut Chat<'_>, rest: &str) -> Result<Next> {
    if let Some(name) = at_most_one(&COMMAND, words(rest)?)? {
        chat.use_model(&name)?;
        chat.screen.words(&[(Tone::Good, "Now answers: "), (Tone::Strong, &name)]);
        return Ok(Next::Line);
    }
    for (name, described) in chat.models() {
        let mark = if name == chat.model { "* " } else { "  " };
        let name = format!("{name:<16} ");
        chat.screen.words(&[(Tone::Good, mark), (Tone::Strong, &name), (Tone::Dim, &described)]);
    }
    Ok(Next::Line)
}
