//! Converts Factory Droid's records to messages.

use forklore_core::{Data, EventType, Message, Part, Role};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::anthropic::part;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RecordFields<'a> {
    #[serde(borrow, default)]
    message: Option<MessageFields<'a>>,
    #[serde(default)]
    summary_text: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MessageFields<'a> {
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(default)]
    model_id: Option<String>,
}

/// A block with the thoughts of a model. It names the provider that signed them.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Signed {
    #[serde(default)]
    signature_provider: Option<String>,
}

pub(super) fn message(kind: &EventType, data: &Data) -> Option<Message> {
    let shown: RecordFields<'_> = data.read().ok()?;
    let role = match kind.as_str() {
        "history_compaction" => return Some(Message::text(Role::User, shown.summary_text?)),
        "user_message" => Role::User,
        "assistant_message" => Role::Assistant,
        "tool_result" => Role::Tool,
        _ => return None,
    };
    let message = shown.message?;
    let content = message.content.map_or("\"\"", RawValue::get);
    if let Ok(text) = serde_json::from_str::<String>(content) {
        return Some(Message::text(role, text));
    }
    let blocks: Vec<&RawValue> = serde_json::from_str(content).ok()?;
    let model = message.model_id.as_deref();
    let parts = blocks.into_iter().map(|block| block_part(block, model));
    Some(Message::parts(role, parts.collect()))
}

fn block_part(raw: &RawValue, model: Option<&str>) -> Part {
    let signed = serde_json::from_str::<Signed>(raw.get()).ok();
    let provider = signed.and_then(|signed| signed.signature_provider);
    part(raw, provider.as_deref(), model)
}
