//! Parses a line that the user typed: a prompt, or a command and the text after its name.

use super::COMMANDS;

/// The meaning of a line that the user entered at the prompt.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Parsed<'a> {
    /// The line is empty or only white space.
    Nothing,
    /// The line is a prompt, which starts a turn.
    Prompt(String),
    /// The line is a command: its index in [`COMMANDS`], and the text after its name.
    Command(usize, &'a str),
    /// The line names a command that does not exist.
    Unknown(&'a str),
}

/// Parses a line that the user entered at the prompt. The line `//text` is the prompt `/text`.
pub(crate) fn parse(line: &str) -> Parsed<'_> {
    let text = line.trim();
    if text.is_empty() {
        return Parsed::Nothing;
    }
    let Some(rest) = text.strip_prefix('/') else { return Parsed::Prompt(text.to_owned()) };
    if rest.starts_with('/') {
        return Parsed::Prompt(rest.to_owned());
    }
    let (name, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    // A name that contains a slash is a pasted path, so the line is a prompt.
    if name.contains('/') {
        return Parsed::Prompt(text.to_owned());
    }
    match COMMANDS.iter().position(|command| command.name == name) {
        Some(at) => Parsed::Command(at, rest.trim()),
        None => Parsed::Unknown(name),
    }
}
