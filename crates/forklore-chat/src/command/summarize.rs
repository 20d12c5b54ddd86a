//! `/summarize`: continues in a fork, in which a summary of the inherited history follows that
//! history.

use forklore_engine::Summarize;
use forklore_host::{Conversation, SummarizeBy, SummarizedFork};

use super::arguments::arguments;
use super::bring::By;
use super::definition::{Command, Next};
use crate::Result;
use crate::chat::Chat;
use crate::input::Argument;
use crate::screen::Tone;

/// The maximum number of lines shown of a summary.
const LINES: usize = 12;

pub(super) const COMMAND: Command = Command {
    name: "summarize",
    usage: "[model|deterministic]",
    help: "go on in a fork with a summary behind the history",
    argument: Argument::Text,
    options: &["model", "deterministic"],
    examples: &[
        ("/summarize", "by the model"),
        ("/summarize deterministic", "without it, at once"),
    ],
    run,
};

#[derive(clap::Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
struct Arguments {
    by: Option<By>,
}

fn run(chat: &mut Chat<'_>, rest: &str) -> Result<Next> {
    let Arguments { by } = arguments(&COMMAND, rest)?;
    let by = by.map_or(SummarizeBy::Model, SummarizeBy::from);
    chat.header()?;
    let notifications = chat.conversation.subscribe(1);
    let waits_for = format!("{} sums up", chat.conversation.model());
    let work = move |conversation: Conversation, cancel| async move {
        conversation.summarize(by, &cancel).await
    };
    let SummarizedFork { forked, summary } = chat.watch(notifications, &waits_for, work)?;
    let (how, text) = match summary {
        Some(Summarize::ByModel { text, .. }) => (format!("by {}", chat.model_named()), Some(text)),
        Some(Summarize::Fallback { why, .. }) => (format!("without a model: {why}"), None),
        Some(Summarize::Deterministic) | None => ("without a model".to_owned(), None),
    };
    let label = forked.label.to_string();
    chat.screen.words(&[
        (Tone::Good, "Summed up "),
        (Tone::Plain, &how),
        (Tone::Dim, ", now on "),
        (Tone::Label, &label),
        (Tone::Dim, "; /inspect shows it, /back returns"),
    ]);
    if let Some(text) = text {
        chat.screen.excerpt(Tone::Dim, &text, "  ", LINES);
    }
    Ok(Next::Line)
}
