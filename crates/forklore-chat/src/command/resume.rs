//! `/resume`: continues an earlier conversation of this folder.

use super::arguments::arguments;
use super::definition::{Command, Next};
use super::history::USUAL;
use crate::chat::{Chat, is_path};
use crate::input::Argument;
use crate::{Choice, Error, Result};

pub(super) const COMMAND: Command = Command {
    name: "resume",
    usage: "[SESSION|FILE]",
    help: "go on in an earlier conversation of this folder, or in a session file",
    argument: Argument::Session,
    options: &[],
    examples: &[
        ("/resume", "choose one from a list"),
        ("/resume 1f2e3d4c", "go on in one, by the beginning of its id"),
        ("/resume ./session.jsonl", "go on with a session of another agent"),
    ],
    run,
};

#[derive(clap::Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
struct Arguments {
    session: Option<String>,
}

fn run(chat: &mut Chat<'_>, rest: &str) -> Result<Next> {
    let Arguments { session } = arguments(&COMMAND, rest)?;
    let is_file = session.as_deref().is_some_and(is_path);
    let header = match session {
        Some(word) => chat.find(&word)?,
        None => match chat.views.choose() {
            Choice::Session(id) => chat.engine().show(&id)?,
            Choice::Nothing => return Ok(Next::Line),
            Choice::Unable => {
                super::history::list(chat, USUAL)?;
                return Ok(Next::Line);
            }
        },
    };
    if !is_file && header.workspace != *chat.conversation.workspace() {
        let message = format!(
            "that session belongs to {}; start forklore there, or name it with /switch",
            header.workspace.as_str()
        );
        return Err(Error::invalid(message));
    }
    chat.switch_to(&header)?;
    Ok(Next::Line)
}
