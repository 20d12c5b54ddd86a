//! Converts Claude Code's records to messages.

use forklore_core::{Content, Data, EventType, Message, Part, Role};
use serde::Deserialize;
use serde_json::value::RawValue;

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

#[derive(Deserialize)]
struct ContentBlock<'a> {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    thinking: Option<String>,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    name: Option<String>,
    #[serde(borrow, default)]
    input: Option<&'a RawValue>,
    #[serde(default)]
    tool_use_id: Option<String>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(default)]
    is_error: Option<bool>,
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
    let parts = blocks.into_iter().map(|block| part(block, message.model.as_deref()));
    Some(Message::parts(role, parts.collect()))
}

fn part(raw: &RawValue, model: Option<&str>) -> Part {
    let other = || Part::Other { value: Data::from_checked(raw.get()) };
    let Ok(block) = serde_json::from_str::<ContentBlock<'_>>(raw.get()) else {
        return other();
    };
    match block {
        ContentBlock { kind, text: Some(text), .. } if kind == "text" => Part::Text { text },
        ContentBlock { kind, thinking, .. }
            if kind == "thinking" || kind == "redacted_thinking" =>
        {
            Part::Reasoning {
                text: thinking.unwrap_or_default(),
                provider: Some("anthropic".into()),
                model: model.map(str::to_owned),
                opaque: Some(Data::from_checked(raw.get())),
            }
        }
        ContentBlock { kind, id: Some(id), name, input, .. } if kind == "tool_use" => {
            Part::ToolCall {
                id,
                name: name.unwrap_or_default(),
                arguments: Data::from_checked(input.map_or("{}", RawValue::get)),
            }
        }
        ContentBlock { kind, tool_use_id: Some(call_id), content, is_error, .. }
            if kind == "tool_result" =>
        {
            Part::ToolResult {
                call_id,
                name: None,
                content: Data::from_checked(content.map_or("\"\"", RawValue::get)),
                is_error: is_error == Some(true),
                synthetic: false,
            }
        }
        _ => other(),
    }
}
