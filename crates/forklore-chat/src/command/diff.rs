//! `/diff`: this branch beside another one.

use super::{Command, Next, Takes, at_most_one, words};
use crate::chat::Chat;
use crate::{Error, Result};

pub(super) const COMMAND: Command = Command {
    name: "diff",
    usage: "[SESSION]",
    does: "compare with another branch; without one, with where you came from",
    takes: Takes::Session,
    options: &[],
    examples: &[("/diff", "with where you came from"), ("/diff plan-b", "with a branch")],
    run,
};

fn run(chat: &mut Chat<'_>, rest: &str) -> Result<Next> {
    let here = chat.header()?;
    let other = match at_most_one(&COMMAND, words(rest)?)? {
        Some(word) => chat.find(&word)?.id,
        None => chat
            .trail
            .last()
            .cloned()
            .or(here.parent_id)
            .ok_or_else(|| Error::words("/diff SESSION: this session came from no other"))?,
    };
    chat.verb(&["diff", other.as_str(), here.id.as_str()]);
    Ok(Next::Line)
}
