//! `/switch`: continues in another branch or session.

use super::arguments::arguments;
use super::definition::{Command, Next};
use crate::chat::Chat;
use crate::input::Argument;
use crate::{Choice, Error, Result};

pub(super) const COMMAND: Command = Command {
    name: "switch",
    usage: "[SESSION]",
    help: "go on in another branch, by its label, or in any session",
    argument: Argument::Session,
    options: &[],
    examples: &[
        ("/switch", "choose one from a list"),
        ("/switch plan-b", "to a branch of this family"),
        ("/switch 1f2e3d4c", "to any session, by the beginning of its id"),
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
    let header = match session {
        Some(word) => chat.find(&word)?,
        None => match chat.views.choose() {
            Choice::Session(id) => chat.engine().show(&id)?,
            Choice::Nothing => return Ok(Next::Line),
            Choice::Unable => {
                let message = format!("/switch SESSION\n{}", chat.there_is());
                return Err(Error::invalid(message));
            }
        },
    };
    chat.switch_to(&header)?;
    Ok(Next::Line)
}
