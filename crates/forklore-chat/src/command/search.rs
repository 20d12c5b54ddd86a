//! `/search`: finds words in the conversations of this folder.

use super::definition::{Command, Next};
use crate::chat::Chat;
use crate::input::Argument;
use crate::{Result, View};

pub(super) const COMMAND: Command = Command {
    name: "search",
    usage: "WORDS",
    help: "find words in the conversations of this folder",
    argument: Argument::Text,
    options: &[],
    examples: &[
        ("/search retry backoff", "both words"),
        ("/search \"retry backoff\" pars*", "a phrase, and the beginning of a word"),
    ],
    run,
};

fn run(chat: &mut Chat<'_>, words: &str) -> Result<Next> {
    // The quotes are part of the query, so it is not split into arguments.
    chat.view(View::Search(words.to_owned()));
    Ok(Next::Line)
}
