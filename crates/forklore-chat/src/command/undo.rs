//! `/undo`: takes the last rewind of conversation and files back.

use super::arguments::arguments;
use super::definition::{Command, Next};
use super::file_changes::report_files;
use crate::Result;
use crate::chat::Chat;
use crate::input::Argument;
use crate::screen::Tone;

pub(super) const COMMAND: Command = Command {
    name: "undo",
    usage: "[NUMBER]",
    help: "take the last rewind with files back, or the one with this number",
    argument: Argument::Text,
    options: &[],
    examples: &[("/undo", "after asking: the fork goes into the trash, the files come back")],
    run,
};

#[derive(clap::Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
struct Arguments {
    number: Option<u64>,
}

fn run(chat: &mut Chat<'_>, rest: &str) -> Result<Next> {
    let Arguments { number } = arguments(&COMMAND, rest)?;
    let question = "Take the rewind back? Files that were changed since are skipped. [Y/n] ";
    match chat.input.ask(question).map(|answer| answer.trim().to_lowercase()).as_deref() {
        Some("" | "y" | "yes") => {}
        _ => {
            chat.screen.line(Tone::Dim, "nothing was taken back");
            return Ok(Next::Line);
        }
    }
    let undone = chat.foreground.block_on(chat.conversation.undo_rewind(number))?;
    if let Some(files) = &undone.files {
        report_files(chat, files);
    }
    let label = chat.label();
    chat.screen.words(&[
        (Tone::Good, "Undone; now on "),
        (Tone::Label, &label),
        (Tone::Dim, &format!("; /undo {} takes that back", undone.number)),
    ]);
    Ok(Next::Line)
}
