//! `/summarize`: on in a fork that has a summary behind its history.

use forklore_engine::{Fork, Summarize};

use super::{Command, Next, Takes, at_most_one, words};
use crate::chat::Chat;
use crate::screen::Tone;
use crate::{Error, Result};

/// Lines of a summary that are shown.
const LINES: usize = 12;

pub(super) const COMMAND: Command = Command {
    name: "summarize",
    usage: "[model|deterministic]",
    does: "go on in a fork with a summary behind the history",
    takes: Takes::Text,
    options: &["model", "deterministic"],
    examples: &[
        ("/summarize", "by the model"),
        ("/summarize deterministic", "without it, at once"),
    ],
    run,
};

fn run(chat: &mut Chat<'_>, rest: &str) -> Result<Next> {
    let parent = chat.header()?;
    let request = Fork::of(parent.id);
    let (branched, summary) = match at_most_one(&COMMAND, words(rest)?)?.as_deref() {
        None | Some("model") => chat.fork_with_summary(request)?,
        Some("deterministic") => {
            let summarize = Some(Summarize::Deterministic);
            (chat.fork(Fork { summarize, ..request })?, None)
        }
        Some(_) => return Err(Error::words("/summarize [model|deterministic]")),
    };
    let (how, text) = match summary {
        Some(Summarize::ByModel { text, .. }) => (format!("by {}", chat.model_named()), Some(text)),
        Some(Summarize::Fallback { why, .. }) => (format!("without a model: {why}"), None),
        Some(Summarize::Deterministic) | None => ("without a model".to_owned(), None),
    };
    let label = branched.forked.label.to_string();
    chat.go_to(branched.child)?;
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
