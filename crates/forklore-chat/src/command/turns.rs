//! `/turns`: lists the messages of this session with the numbers that `/fork` and `/rewind` accept.

use forklore_core::Role;
use forklore_host::NumberedMessage;

use super::definition::{Command, Next};
use crate::Result;
use crate::chat::Chat;
use crate::input::Argument;
use crate::screen::Tone;

pub(super) const COMMAND: Command = Command {
    name: "turns",
    usage: "",
    help: "list turns and messages with their numbers",
    argument: Argument::Text,
    options: &[],
    examples: &[("/turns", "what /fork, /rewind and /replay take")],
    run,
};

fn run(chat: &mut Chat<'_>, _: &str) -> Result<Next> {
    let messages = chat.foreground.block_on(chat.conversation.messages())?;
    chat.screen.line(Tone::Dim, "turn  message");
    let width = chat.screen.width().saturating_sub(26).max(20);
    for NumberedMessage { turn, message, role, text, partial } in messages {
        let turn = turn.as_ref().map(u64::to_string).unwrap_or_default();
        let tone = match role {
            Role::System => Tone::Dim,
            Role::User => Tone::Strong,
            Role::Assistant => Tone::Plain,
            Role::Tool => Tone::Tool,
        };
        let role = role.as_str();
        let interrupted = if partial { "(interrupted) " } else { "" };
        let text = beginning(&format!("{interrupted}{text}"), width);
        chat.screen.words(&[
            (Tone::Dim, &format!("{turn:>4}  {message:>7}  ")),
            (tone, &format!("{role:<10} ")),
            (Tone::Plain, &text),
        ]);
    }
    Ok(Next::Line)
}

/// Returns the beginning of `text` on one line, cut to at most `width` characters.
fn beginning(text: &str, width: usize) -> String {
    let mut words = text.chars().take(width * 4).collect::<String>();
    words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    if words.chars().count() <= width {
        return words;
    }
    let mut begun: String = words.chars().take(width.saturating_sub(3)).collect();
    begun.push_str("...");
    begun
}
