//! `/replay`: what was said.

use super::{Command, Next, Takes, at_most_one, cut, words};
use crate::Result;
use crate::chat::Chat;

pub(super) const COMMAND: Command = Command {
    name: "replay",
    usage: "[CUT]",
    does: "show what was said, up to CUT",
    takes: Takes::Cut,
    options: &[],
    examples: &[("/replay", "all of it"), ("/replay turn:2", "the first two turns")],
    run,
};

fn run(chat: &mut Chat<'_>, rest: &str) -> Result<Next> {
    let id = chat.header()?.id;
    match at_most_one(&COMMAND, words(rest)?)? {
        Some(word) => {
            let up_to = cut(&word)?.to_string();
            chat.verb(&["replay", id.as_str(), "--up-to", &up_to]);
        }
        None => chat.verb(&["replay", id.as_str()]),
    }
    Ok(Next::Line)
}
