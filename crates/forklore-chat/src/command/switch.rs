//! `/switch`: to another branch or session.

use super::{Command, Next, Takes, at_most_one, words};
use crate::chat::Chat;
use crate::{Error, Result};

pub(super) const COMMAND: Command = Command {
    name: "switch",
    usage: "SESSION",
    does: "go on in another branch, by its label, or in any session",
    takes: Takes::Session,
    options: &[],
    examples: &[
        ("/switch plan-b", "to a branch of this family"),
        ("/switch 1f2e3d4c", "to any session, by the end of its id"),
    ],
    run,
};

fn run(chat: &mut Chat<'_>, rest: &str) -> Result<Next> {
    let Some(word) = at_most_one(&COMMAND, words(rest)?)? else {
        return Err(Error::words("/switch SESSION: /branches shows those of this family"));
    };
    let header = chat.find(&word)?;
    chat.switch_to(&header)?;
    Ok(Next::Line)
}
