//! `/diff`: compares this branch with another one.

use super::arguments::arguments;
use super::definition::{Command, Next};
use crate::chat::Chat;
use crate::input::Argument;
use crate::{Error, Result, View};

pub(super) const COMMAND: Command = Command {
    name: "diff",
    usage: "[SESSION]",
    help: "compare with another branch; without one, with where you were before",
    argument: Argument::Session,
    options: &[],
    examples: &[
        ("/diff", "with where you were before, also after /back"),
        ("/diff plan-b", "with a branch"),
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
    let here = chat.header()?;
    let other = match session {
        Some(word) => chat.find(&word)?,
        None => {
            let before = chat.conversation.previous().or_else(|| here.parent_id.clone());
            let before = before.ok_or_else(|| {
                let message = "/diff SESSION: this session came from no other";
                Error::invalid(format!("{message}\n{}", chat.there_is()))
            })?;
            chat.engine().show(&before)?
        }
    };
    chat.view(View::Diff(Box::new((other, here))));
    Ok(Next::Line)
}
