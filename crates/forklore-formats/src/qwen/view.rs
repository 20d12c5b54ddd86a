//! Converts Qwen Code's records to messages.

use forklore_core::{Data, EventType, Message, Part, Role};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::google;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RecordFields<'a> {
    #[serde(borrow, default)]
    message: Option<Content<'a>>,
    #[serde(default)]
    model: Option<String>,
    #[serde(default)]
    tool_call_result: Option<ToolCallResult>,
    #[serde(borrow, default)]
    system_payload: Option<Payload<'a>>,
}

/// A message in the form of Google's API.
#[derive(Deserialize)]
struct Content<'a> {
    #[serde(default)]
    role: Option<String>,
    #[serde(borrow, default)]
    parts: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
struct ToolCallResult {
    #[serde(default)]
    status: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Payload<'a> {
    #[serde(borrow, default)]
    compressed_history: Vec<&'a RawValue>,
}

pub(super) fn message(kind: &EventType, data: &Data) -> Option<Message> {
    let role = match kind.as_str() {
        "history_compaction" => return summary(data),
        "user_message" => Role::User,
        "assistant_message" => Role::Assistant,
        "tool_result" => Role::Tool,
        _ => return None,
    };
    let shown: RecordFields<'_> = data.read().ok()?;
    let status = shown.tool_call_result.and_then(|result| result.status);
    let failed = matches!(status.as_deref(), Some("error" | "cancelled"));
    let parts = parts(&shown.message?, shown.model.as_deref()).into_iter();
    Some(Message::parts(role, parts.map(|part| failed_result(part, failed)).collect()))
}

/// Returns the messages that replace the earlier history after a compression.
pub(super) fn instead(data: &Data) -> Vec<Message> {
    let Ok(shown) = data.read::<RecordFields<'_>>() else { return Vec::new() };
    let history = shown.system_payload.map(|payload| payload.compressed_history);
    let history = history.unwrap_or_default().into_iter();
    let contents = history.filter_map(|raw| serde_json::from_str::<Content<'_>>(raw.get()).ok());
    contents.map(|content| of_content(&content)).collect()
}

/// Returns the summary of a compression, which is the first message of the new history.
fn summary(data: &Data) -> Option<Message> {
    instead(data).into_iter().next()
}

fn of_content(content: &Content<'_>) -> Message {
    let parts = parts(content, None);
    let is_result = |part: &Part| matches!(part, Part::ToolResult { .. });
    let role = match content.role.as_deref() {
        Some("model") => Role::Assistant,
        _ if !parts.is_empty() && parts.iter().all(is_result) => Role::Tool,
        _ => Role::User,
    };
    Message::parts(role, parts)
}

fn parts(content: &Content<'_>, model: Option<&str>) -> Vec<Part> {
    content.parts.iter().map(|raw| google::part(raw, None, model)).collect()
}

/// Marks a tool result as an error if `failed` is set. A field outside the message states whether
/// the call failed.
fn failed_result(part: Part, failed: bool) -> Part {
    match part {
        Part::ToolResult { call_id, name, content, is_error, synthetic } => {
            Part::ToolResult { call_id, name, content, is_error: is_error || failed, synthetic }
        }
        part => part,
    }
}
