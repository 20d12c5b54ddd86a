//! `/history`: lists the conversations of this folder.

use forklore_engine::ListRequest;

use super::arguments::arguments;
use super::definition::{Command, Next};
use crate::chat::Chat;
use crate::input::Argument;
use crate::screen::Tone;
use crate::{Error, Result, View};

/// The default maximum number of listed conversations.
pub(super) const USUAL: usize = 50;

pub(super) const COMMAND: Command = Command {
    name: "history",
    usage: "[N|all]",
    help: "list the conversations of this folder",
    argument: Argument::Text,
    options: &["all"],
    examples: &[
        ("/history", "the last 50, the last one first; /resume goes there"),
        ("/history 200", "the last 200"),
        ("/history all", "all of them"),
    ],
    run,
};

#[derive(clap::Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
struct Arguments {
    most: Option<String>,
}

fn run(chat: &mut Chat<'_>, rest: &str) -> Result<Next> {
    let Arguments { most } = arguments(&COMMAND, rest)?;
    let wrong = || Error::invalid("/history takes a number from 1, or all");
    let most = match most.as_deref() {
        None => USUAL,
        Some("all") => 0,
        Some(number) => number.parse().ok().filter(|most| *most > 0).ok_or_else(wrong)?,
    };
    list(chat, most)?;
    Ok(Next::Line)
}

/// Lists the last `most` conversations of this folder; 0 means all. Then tells whether there are
/// more, and how to see them.
pub(super) fn list(chat: &mut Chat<'_>, most: usize) -> Result<()> {
    chat.view(View::List(most));
    let request = ListRequest {
        workspace: Some(chat.conversation.workspace().clone()),
        limit: most,
        ..ListRequest::default()
    };
    if chat.engine().list(&request)?.next.is_some() {
        let text =
            format!("these are the last {most}; there are more: /history all, or /history N");
        chat.screen.line(Tone::Dim, &text);
    }
    Ok(())
}
