//! `/new`: begins a new session, a root without history.

use super::definition::{Command, Next};
use crate::Result;
use crate::chat::Chat;
use crate::input::Argument;
use crate::screen::Tone;

pub(super) const COMMAND: Command = Command {
    name: "new",
    usage: "[TITLE]",
    help: "begin another conversation; this one stays",
    argument: Argument::Text,
    options: &[],
    examples: &[("/new", "without a title"), ("/new which parser?", "with one")],
    run,
};

fn run(chat: &mut Chat<'_>, rest: &str) -> Result<Next> {
    let title = (!rest.is_empty()).then(|| rest.to_owned());
    chat.foreground.block_on(chat.conversation.begin(title));
    chat.screen.line(Tone::Good, "A new conversation; /back returns to the last one");
    Ok(Next::Line)
}
