//! `/explore`: several continuations at once.

use super::{Command, Next, Takes, words};
use crate::Result;
use crate::chat::Chat;
use crate::screen::Tone;

pub(super) const COMMAND: Command = Command {
    name: "explore",
    usage: "[PROMPT] [-n 4] [--at CUT] [--models A,B] [--prompts FILE] [--judge CMD]",
    does: "try several continuations at once, and compare them",
    takes: Takes::Text,
    options: &["-n", "--at", "--models", "--prompts", "--judge", "--jobs"],
    run,
};

fn run(chat: &mut Chat<'_>, rest: &str) -> Result<Next> {
    let id = chat.header()?.id;
    let mut given = words(rest)?;
    let mut line = vec!["explore".to_owned(), id.to_string()];
    // What is no option is the prompt.
    if given.first().is_some_and(|word| !word.starts_with('-')) {
        let end = given.iter().position(|word| word.starts_with('-')).unwrap_or(given.len());
        let prompt: Vec<String> = given.drain(..end).collect();
        line.extend(["--prompt".to_owned(), prompt.join(" ")]);
    }
    if !given.iter().any(|word| word == "--models" || word == "--model") {
        line.extend(["--model".to_owned(), chat.model.clone()]);
    }
    line.extend(given);
    let line: Vec<&str> = line.iter().map(String::as_str).collect();
    chat.verb(&line);
    let text = "/switch LABEL goes on in one of them, /bring LABEL tells this session of it";
    chat.screen.line(Tone::Dim, text);
    Ok(Next::Line)
}
