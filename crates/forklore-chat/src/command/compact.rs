//! `/compact`: room in the model's context, without losing what was said.

use super::{Command, Next, Takes};
use crate::Result;
use crate::chat::Chat;
use crate::screen::Tone;

/// Notifications that wait to be shown.
const WAITING: usize = 64;

pub(super) const COMMAND: Command = Command {
    name: "compact",
    usage: "",
    does: "let a summary stand for the older turns; the log keeps them",
    takes: Takes::Text,
    options: &[],
    examples: &[("/compact", "now, without waiting for a full context")],
    run,
};

fn run(chat: &mut Chat<'_>, _: &str) -> Result<Next> {
    chat.header()?;
    let session = chat.session.clone();
    // What came of it is told by what is heard.
    let heard = session.subscribe(WAITING);
    let work = async move { Ok(session.compact().await?) };
    if chat.watch(heard, "compacting the history", work)?.is_none() {
        chat.screen.line(Tone::Plain, "There is nothing to compact yet.");
    }
    Ok(Next::Line)
}
