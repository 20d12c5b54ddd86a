//! `/export`: this session as a file.

use super::{Command, Next, Takes, at_most_one, option, words};
use crate::chat::Chat;
use crate::{Error, Result};

pub(super) const COMMAND: Command = Command {
    name: "export",
    usage: "FILE [--to AGENT]",
    does: "write this session into a new file, never over one",
    takes: Takes::File,
    options: &["--to"],
    examples: &[
        ("/export talk.jsonl", "lines of role and content"),
        ("/export talk.jsonl --to claude", "as a session file of an agent"),
    ],
    run,
};

fn run(chat: &mut Chat<'_>, rest: &str) -> Result<Next> {
    let mut words = words(rest)?;
    let form = option(&mut words, "--to")?;
    let Some(file) = at_most_one(&COMMAND, words)? else {
        return Err(Error::words("/export FILE [--to AGENT]"));
    };
    let id = chat.header()?.id;
    let form = form.unwrap_or_else(|| "plain".to_owned());
    chat.verb(&["export", id.as_str(), "--to", &form, "-o", &file]);
    Ok(Next::Line)
}
