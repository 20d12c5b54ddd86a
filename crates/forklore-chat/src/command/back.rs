//! `/back`: to the session where one was before.

use super::{Command, Next, Takes};
use crate::chat::Chat;
use crate::screen::Tone;
use crate::{Error, Result};

pub(super) const COMMAND: Command = Command {
    name: "back",
    usage: "",
    does: "return to where you were before the last fork or switch",
    takes: Takes::Text,
    options: &[],
    examples: &[("/back", "to where you were; again, further back")],
    run,
};

fn run(chat: &mut Chat<'_>, _: &str) -> Result<Next> {
    let Some(before) = chat.trail.pop() else {
        return Err(Error::words("this is where the conversation began; /switch goes elsewhere"));
    };
    let here = chat.label();
    if let Err(error) = chat.open(&before) {
        chat.trail.push(before);
        return Err(error);
    }
    let label = chat.label();
    chat.screen.words(&[
        (Tone::Good, "Back on "),
        (Tone::Label, &label),
        (Tone::Dim, &format!("; {here} stays")),
    ]);
    Ok(Next::Line)
}
