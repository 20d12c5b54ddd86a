//! Converts Codex's records to messages.

use forklore_core::{Content, Data, EventType, Message, Part, Role};
use serde::Deserialize;
use serde_json::value::RawValue;

const PROVIDER: &str = "openai";

#[derive(Deserialize)]
struct RecordFields<'a> {
    #[serde(borrow, default)]
    payload: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Item<'a> {
    #[serde(rename = "type", default)]
    kind: Option<String>,
    #[serde(default)]
    role: Option<String>,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    call_id: Option<String>,
    #[serde(default)]
    name: Option<String>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    summary: Option<&'a RawValue>,
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow, default)]
    input: Option<&'a RawValue>,
    #[serde(borrow, default)]
    action: Option<&'a RawValue>,
    #[serde(borrow, default)]
    output: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Compacted<'a> {
    #[serde(default)]
    message: String,
    #[serde(borrow, default)]
    replacement_history: Option<Vec<&'a RawValue>>,
}

#[derive(Deserialize)]
struct ContentBlock {
    #[serde(rename = "type")]
    kind: String,
    text: String,
}

pub(super) fn message(kind: &EventType, data: &Data) -> Option<Message> {
    let shown: RecordFields<'_> = data.read().ok()?;
    let payload = shown.payload.map_or(data.get(), RawValue::get);
    match kind.as_str() {
        "history_compaction" => {
            let compacted: Compacted<'_> = serde_json::from_str(payload).ok()?;
            Some(Message::text(Role::User, compacted.message))
        }
        "system_message" | "user_message" | "assistant_message" | "reasoning" | "tool_call"
        | "tool_result" => item(payload),
        _ => None,
    }
}

/// Returns the name of the model that a `turn_context` record selects. Returns `None` for any other
/// record, and if the record names no model.
pub(super) fn model(kind: &EventType, data: &Data) -> Option<String> {
    #[derive(Deserialize)]
    struct Turn {
        payload: Context,
    }
    #[derive(Deserialize)]
    struct Context {
        model: String,
    }
    let turn = (kind.as_str() == "x.codex.turn_context").then(|| data.read::<Turn>().ok())?;
    turn.map(|turn| turn.payload.model)
}

/// Returns the messages that replace the earlier history at a compaction. If the record contains no
/// messages, returns its summary as one message.
pub(super) fn instead(data: &Data) -> Vec<Message> {
    let read = || -> Option<Vec<Message>> {
        let shown: RecordFields<'_> = data.read().ok()?;
        let compacted: Compacted<'_> = serde_json::from_str(shown.payload?.get()).ok()?;
        let history = compacted.replacement_history?;
        Some(history.into_iter().filter_map(|raw| item(raw.get())).collect())
    };
    let summary = || message(&EventType::HISTORY_COMPACTION, data).into_iter().collect();
    read().filter(|messages| !messages.is_empty()).unwrap_or_else(summary)
}

fn item(payload: &str) -> Option<Message> {
    let item: Item<'_> = serde_json::from_str(payload).ok()?;
    let one = |role, part| Some(Message { role, content: Content::Parts(vec![part]) });
    match item.kind.as_deref() {
        None | Some("message") => {
            let role = match item.role.as_deref() {
                Some("user") => Role::User,
                Some("assistant") => Role::Assistant,
                Some("system" | "developer") => Role::System,
                _ => return None,
            };
            Some(content_message(role, item.content))
        }
        Some("reasoning") => one(Role::Assistant, reasoning(&item, payload)),
        Some(kind) if kind.ends_with("_output") => one(Role::Tool, result(&item)?),
        Some("function_call" | "custom_tool_call" | "tool_search_call" | "local_shell_call") => {
            one(Role::Assistant, call(&item, payload))
        }
        Some(_) => one(Role::Assistant, other(payload)),
    }
}

fn other(payload: &str) -> Part {
    Part::Other { value: Data::from_checked(payload) }
}

fn content_message(role: Role, content: Option<&RawValue>) -> Message {
    let content = content.map_or("\"\"", RawValue::get);
    if let Ok(text) = serde_json::from_str::<String>(content) {
        return Message::text(role, text);
    }
    match serde_json::from_str::<Vec<&RawValue>>(content) {
        Ok(blocks) => Message::parts(role, blocks.into_iter().map(block).collect()),
        Err(_) => Message::parts(role, vec![other(content)]),
    }
}

fn block(raw: &RawValue) -> Part {
    match serde_json::from_str::<ContentBlock>(raw.get()) {
        Ok(ContentBlock { kind, text }) if kind.ends_with("_text") || kind == "text" => {
            Part::Text { text }
        }
        _ => other(raw.get()),
    }
}

/// Converts a reasoning record of Codex to a message part. Its text is the summary, followed by the
/// full text if the record contains it.
fn reasoning(item: &Item<'_>, payload: &str) -> Part {
    let texts = [item.summary, item.content]
        .into_iter()
        .flatten()
        .flat_map(|raw| serde_json::from_str::<Vec<ContentBlock>>(raw.get()).unwrap_or_default());
    Part::Reasoning {
        text: texts.map(|block| block.text).collect::<Vec<_>>().join("\n\n"),
        provider: Some(PROVIDER.into()),
        model: None,
        opaque: Some(Data::from_checked(payload)),
    }
}

/// Converts a tool call of Codex to a message part. Its arguments are a string with JSON in
/// `arguments`, a plain string in `input`, or an object in `action`.
fn call(item: &Item<'_>, payload: &str) -> Part {
    let kind = item.kind.as_deref().unwrap_or_default();
    let shell = item.id.as_ref().filter(|_| kind == "local_shell_call");
    let Some(id) = item.call_id.as_ref().or(shell) else { return other(payload) };
    let raw = item.arguments.or(item.input).or(item.action).map_or("{}", RawValue::get);
    let inside = item.arguments.and_then(|raw| serde_json::from_str::<String>(raw.get()).ok());
    let inside = inside.and_then(|text| Data::parse(&text).ok());
    Part::ToolCall {
        id: id.clone(),
        name: item.name.clone().unwrap_or_else(|| kind.trim_end_matches("_call").to_owned()),
        arguments: inside.unwrap_or_else(|| Data::from_checked(raw)),
    }
}

/// Converts a tool result of Codex to a message part. The part is marked as an error if the output
/// states that the tool failed, as some versions of Codex record.
fn result(item: &Item<'_>) -> Option<Part> {
    #[derive(Deserialize)]
    struct ToolOutput {
        success: Option<bool>,
    }
    let output = item.output.map_or("\"\"", RawValue::get);
    let output_fields = serde_json::from_str::<ToolOutput>(output)
        .ok()
        .and_then(|output_fields| output_fields.success);
    Some(Part::ToolResult {
        call_id: item.call_id.clone()?,
        name: None,
        content: Data::from_checked(output),
        is_error: output_fields == Some(false),
        synthetic: false,
    })
}
