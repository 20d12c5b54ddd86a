//! `/compact`: replaces older turns by a summary in what the model receives. The log keeps every
//! event.

use forklore_host::Conversation;

use super::definition::{Command, Next};
use crate::Result;
use crate::chat::Chat;
use crate::input::Argument;
use crate::screen::Tone;

/// The capacity of the queue for the notifications about a compaction.
const CAPACITY: usize = 64;

pub(super) const COMMAND: Command = Command {
    name: "compact",
    usage: "",
    help: "let a summary stand for the older turns; the log keeps them",
    argument: Argument::Text,
    options: &[],
    examples: &[("/compact", "now, without waiting for a full context")],
    run,
};

fn run(chat: &mut Chat<'_>, _: &str) -> Result<Next> {
    chat.header()?;
    // The notifications show the result of a successful compaction.
    let notifications = chat.conversation.subscribe(CAPACITY);
    let work =
        |conversation: Conversation, cancel| async move { conversation.compact(&cancel).await };
    if chat.watch(notifications, "compacting the history", work)?.is_none() {
        chat.screen.line(Tone::Plain, "There is nothing to compact yet.");
    }
    Ok(Next::Line)
}
