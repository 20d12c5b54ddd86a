//! `/turns`: the places of this session, for `/fork` and `/rewind`.

use std::collections::HashMap;

use forklore_core::{Message, Role};
use forklore_engine::Record;
use forklore_store::port::At;

use super::{Command, Next, Takes};
use crate::Result;
use crate::chat::Chat;
use crate::screen::Tone;

pub(super) const COMMAND: Command = Command {
    name: "turns",
    usage: "",
    does: "list turns and messages with their numbers",
    takes: Takes::Text,
    options: &[],
    examples: &[("/turns", "what /fork, /rewind and /replay take")],
    run,
};

fn run(chat: &mut Chat<'_>, _: &str) -> Result<Next> {
    let id = chat.header()?.id;
    let engine = chat.engine();
    let mut begins = HashMap::new();
    for stored in engine.events(&id, At::Seq(0)) {
        let stored = stored?;
        if stored.event.effect.starts_turn {
            begins.insert(stored.counts.index.saturating_sub(1), stored.counts.turns);
        }
    }
    chat.screen.line(Tone::Dim, "turn  message");
    let room = chat.screen.width().saturating_sub(26).max(20);
    for record in engine.replay(&id, None)? {
        let record = record?;
        let turn = begins.get(&record.index).map(u64::to_string).unwrap_or_default();
        let (role, tone) = match record.role {
            Role::System => ("system", Tone::Dim),
            Role::User => ("user", Tone::Strong),
            Role::Assistant => ("assistant", Tone::Plain),
            Role::Tool => ("tool", Tone::Tool),
        };
        let place = format!("{turn:>4}  {:>7}  ", record.index);
        let role = format!("{role:<10} ");
        let interrupted = if record.partial { "(interrupted) " } else { "" };
        let said = beginning(&format!("{interrupted}{}", text_of(record)), room);
        chat.screen.words(&[(Tone::Dim, &place), (tone, &role), (Tone::Plain, &said)]);
    }
    Ok(Next::Line)
}

fn text_of(record: Record) -> String {
    Message { role: record.role, content: record.content }.plain_text()
}

/// The beginning of a text on one line.
fn beginning(text: &str, room: usize) -> String {
    let mut words = text.chars().take(room * 4).collect::<String>();
    words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    if words.chars().count() <= room {
        return words;
    }
    let mut begun: String = words.chars().take(room.saturating_sub(3)).collect();
    begun.push_str("...");
    begun
}
