//! `/help`: shows the commands.

use super::arguments::arguments;
use super::definition::{Command, Next};
use super::{COMMANDS, nearest};
use crate::chat::Chat;
use crate::input::Argument;
use crate::screen::Tone;
use crate::{Error, Result};

/// The column of the help, from 0, in which the descriptions of the commands begin.
const COLUMN: usize = 31;
const CUT: &str = "CUT is turn:N, message:N, index:N, seq:N, event:ID, start or end; N alone is message:N (/turns).";
const SESSION: &str = "SESSION is a label, an id or the beginning of it, a title, or last.";
const REST: &str = "\
/help COMMAND shows examples. Tab completes commands, sessions, places, models and files.
Alt-Enter, or a backslash before Enter, begins a new line. Ctrl-C interrupts, Ctrl-D leaves.
Esc twice at an empty prompt goes back to one of your questions.
Nothing that was said is ever changed or lost: to take something back is to fork.";

pub(super) const COMMAND: Command = Command {
    name: "help",
    usage: "[COMMAND]",
    help: "show this, or a command with examples",
    argument: Argument::Command,
    options: &[],
    examples: &[("/help", "all of them"), ("/help fork", "one, with examples")],
    run,
};

#[derive(clap::Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
struct Arguments {
    command: Option<String>,
}

fn run(chat: &mut Chat<'_>, rest: &str) -> Result<Next> {
    let Arguments { command } = arguments(&COMMAND, rest)?;
    if let Some(name) = command {
        return one(chat, name.trim_start_matches('/'));
    }
    let width = chat.screen.width().saturating_sub(COLUMN).max(20);
    for command in COMMANDS {
        let usage = format!("/{} {}", command.name, command.usage);
        let mut margin = usage.clone();
        if usage.len() >= COLUMN {
            chat.screen.line(Tone::Strong, &usage);
            margin.clear();
        }
        for line in textwrap::wrap(command.help, width) {
            let margin = format!("{:<COLUMN$}", std::mem::take(&mut margin));
            chat.screen.words(&[(Tone::Strong, &margin), (Tone::Plain, &line)]);
        }
    }
    for text in [CUT, SESSION, REST] {
        chat.screen.excerpt(Tone::Dim, text, "", usize::MAX);
    }
    Ok(Next::Line)
}

/// Shows the help of one command, with its examples.
fn one(chat: &mut Chat<'_>, name: &str) -> Result<Next> {
    let Some(command) = COMMANDS.iter().find(|command| command.name == name) else {
        let meant = nearest(name).map(|name| format!("; did you mean /help {name}?"));
        return Err(Error::invalid(format!("there is no /{name}{}", meant.unwrap_or_default())));
    };
    let usage = format!("/{} {}", command.name, command.usage);
    chat.screen.line(Tone::Strong, usage.trim_end());
    chat.screen.line(Tone::Plain, command.help);
    let widest = command.examples.iter().map(|(line, _)| line.len()).max().unwrap_or(0);
    for (line, does) in command.examples {
        chat.screen.words(&[
            (Tone::Strong, &format!("  {line:<widest$}")),
            (Tone::Dim, &format!("  {does}")),
        ]);
    }
    if command.usage.contains("CUT") {
        chat.screen.excerpt(Tone::Dim, CUT, "", usize::MAX);
    }
    if command.usage.contains("SESSION") {
        chat.screen.excerpt(Tone::Dim, SESSION, "", usize::MAX);
    }
    Ok(Next::Line)
}
