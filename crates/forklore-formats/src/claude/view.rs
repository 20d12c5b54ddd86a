//! Converts Claude Code's records to messages.

use forklore_core::{Content, Data, EventType, Message, Part, Role};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::anthropic::part;

const PROVIDER: &str = "anthropic";

#[derive(Deserialize)]
struct RecordFields<'a> {
    #[serde(borrow, default)]
    message: Option<MessageFields<'a>>,
    #[serde(borrow, default)]
    attachment: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct MessageFields<'a> {
    #[serde(default)]
    model: Option<String>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
}

pub(super) fn message(kind: &EventType, data: &Data) -> Option<Message> {
    let role = match kind.as_str() {
        "user_message" | "history_compaction" => Role::User,
        "assistant_message" => Role::Assistant,
        "tool_result" => Role::Tool,
        _ => return None,
    };
    let shown: RecordFields<'_> = data.read().ok()?;
    if let Some(attachment) = shown.attachment {
        let value = Data::from_checked(attachment.get());
        return Some(Message { role, content: Content::Parts(vec![Part::Other { value }]) });
    }
    let message = shown.message?;
    let content = message.content.map_or("\"\"", RawValue::get);
    if let Ok(text) = serde_json::from_str::<String>(content) {
        return Some(Message::text(role, text));
    }
    let blocks: Vec<&RawValue> = serde_json::from_str(content).ok()?;
    let model = message.model.as_deref();
    let parts = blocks.into_iter().map(|block| part(block, Some(PROVIDER), model));
    Some(Message::parts(role, parts.collect()))
}
