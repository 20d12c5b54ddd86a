//! `/compact`: room in the model's context, without losing what was said.

use super::{Command, Next, Takes};
use crate::Result;
use crate::chat::Chat;
use crate::screen::Tone;

pub(super) const COMMAND: Command = Command {
    name: "compact",
    usage: "",
    does: "let a summary stand for the older turns; the log keeps them",
    takes: Takes::Text,
    options: &[],
    run,
};

fn run(chat: &mut Chat<'_>, _: &str) -> Result<Next> {
    chat.header()?;
    chat.screen.line(Tone::Dim, "compacting ...");
    let session = chat.session.clone();
    let heard = session.subscribe(1);
    let compacted = chat.watch(heard, async move { Ok(session.compact().await?) })?;
    match compacted {
        Some(_) => {
            chat.screen.line(Tone::Good, "Compacted; /inspect shows what the model gets now");
        }
        None => chat.screen.line(Tone::Plain, "There is nothing to compact yet."),
    }
    Ok(Next::Line)
}
