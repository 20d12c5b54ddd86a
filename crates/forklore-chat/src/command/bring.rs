//! `/bring`: writes a summary of another branch into a session.

use forklore_host::{Conversation, SummarizeBy};

use super::arguments::arguments;
use super::definition::{Command, Next};
use crate::chat::Chat;
use crate::input::Argument;
use crate::{Error, Result, View};

pub(super) const COMMAND: Command = Command {
    name: "bring",
    usage: "SESSION [--into SESSION] [--by model]",
    help: "tell this session what another branch came to",
    argument: Argument::Session,
    options: &["--into", "--by"],
    examples: &[
        ("/bring plan-b", "tell this session of it"),
        ("/bring plan-b --by model", "summed up by the model"),
        ("/bring main --into plan-b", "tell another branch"),
    ],
    run,
};

#[derive(clap::Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
struct Arguments {
    session: Option<String>,
    #[arg(long)]
    into: Option<String>,
    #[arg(long, default_value = "deterministic")]
    by: By,
}

/// How the summary is written.
#[derive(Clone, Copy, clap::ValueEnum)]
pub(super) enum By {
    Deterministic,
    Model,
}

impl From<By> for SummarizeBy {
    fn from(by: By) -> Self {
        match by {
            By::Deterministic => Self::Deterministic,
            By::Model => Self::Model,
        }
    }
}

fn run(chat: &mut Chat<'_>, rest: &str) -> Result<Next> {
    let Arguments { session, into, by } = arguments(&COMMAND, rest)?;
    let Some(branch) = session else {
        return Err(Error::invalid(format!("/bring SESSION\n{}", chat.there_is())));
    };
    let branch = chat.find(&branch)?;
    let into = match into {
        Some(into) => chat.find(&into)?,
        None => chat.header()?,
    };
    let notifications = chat.conversation.subscribe(1);
    let waits_for = format!("{} sums up", chat.conversation.model());
    let (from, to) = (branch.clone(), into.clone());
    let work = |conversation: Conversation, cancel| async move {
        conversation.bring(&from, &to, by.into(), &cancel).await
    };
    let brought = chat.watch(notifications, &waits_for, work)?;
    chat.view(View::Brought(Box::new(brought), into));
    Ok(Next::Line)
}
