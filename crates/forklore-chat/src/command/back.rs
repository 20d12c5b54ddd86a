//! `/back`: returns to the previous session.

use super::definition::{Command, Next};
use crate::Result;
use crate::chat::Chat;
use crate::input::Argument;
use crate::screen::Tone;

pub(super) const COMMAND: Command = Command {
    name: "back",
    usage: "",
    help: "return to where you were before the last fork or switch",
    argument: Argument::Text,
    options: &[],
    examples: &[("/back", "to where you were; again, further back")],
    run,
};

fn run(chat: &mut Chat<'_>, _: &str) -> Result<Next> {
    let here = chat.label();
    chat.foreground.block_on(chat.conversation.back())?;
    let label = chat.label();
    chat.screen.words(&[
        (Tone::Good, "Back on "),
        (Tone::Label, &label),
        (Tone::Dim, &format!("; {here} stays")),
    ]);
    Ok(Next::Line)
}
