//! `/export`: writes this session to a file.

use std::path::PathBuf;

use super::arguments::arguments;
use super::definition::{Command, Next};
use crate::chat::Chat;
use crate::input::Argument;
use crate::{Error, Result, View};

pub(super) const COMMAND: Command = Command {
    name: "export",
    usage: "FILE [--to AGENT]",
    help: "write this session into a new file, never over one",
    argument: Argument::File,
    options: &["--to"],
    examples: &[
        ("/export talk.jsonl", "lines of role and content"),
        ("/export talk.jsonl --to claude", "as a session file of an agent"),
    ],
    run,
};

#[derive(clap::Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
struct Arguments {
    file: Option<PathBuf>,
    #[arg(long, default_value = "plain")]
    to: String,
}

fn run(chat: &mut Chat<'_>, rest: &str) -> Result<Next> {
    let Arguments { file, to } = arguments(&COMMAND, rest)?;
    let Some(file) = file else { return Err(Error::invalid("/export FILE [--to AGENT]")) };
    let session = chat.header()?;
    chat.view(View::Export { session, to, file });
    Ok(Next::Line)
}
