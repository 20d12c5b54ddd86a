//! `/resume`: an earlier conversation of this folder.

use super::{Command, Next, Takes, at_most_one, words};
use crate::chat::Chat;
use crate::{Error, Result};

pub(super) const COMMAND: Command = Command {
    name: "resume",
    usage: "[SESSION]",
    does: "go on in an earlier conversation of this folder",
    takes: Takes::Session,
    options: &[],
    examples: &[
        ("/resume", "list them"),
        ("/resume 1f2e3d4c", "go on in one, by the end of its id"),
    ],
    run,
};

fn run(chat: &mut Chat<'_>, rest: &str) -> Result<Next> {
    let Some(word) = at_most_one(&COMMAND, words(rest)?)? else {
        chat.verb(&["list"]);
        return Ok(Next::Line);
    };
    let header = chat.find(&word)?;
    if header.workspace != chat.workspace {
        let message = format!(
            "that session belongs to {}; start forklore there, or name it with /switch",
            header.workspace.as_str()
        );
        return Err(Error::words(message));
    }
    chat.switch_to(&header)?;
    Ok(Next::Line)
}
