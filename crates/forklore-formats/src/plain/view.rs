//! Converts plain messages to the common form.

use forklore_core::{Content, Data, EventType, Message, Part, Role, payload};
use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Deserialize)]
struct RecordFields<'a> {
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    tool_call_id: Option<String>,
    #[serde(borrow, default)]
    tool_calls: Vec<ShownCall<'a>>,
}

#[derive(Deserialize)]
struct ShownCall<'a> {
    id: String,
    #[serde(borrow)]
    function: ShownFunction<'a>,
}

#[derive(Deserialize)]
struct ShownFunction<'a> {
    name: String,
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
}

/// A block of a message's content in the form of Anthropic's API.
#[derive(Deserialize)]
struct ContentBlock<'a> {
    #[serde(rename = "type")]
    kind: String,
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
    #[serde(default)]
    thinking: Option<String>,
}

pub(super) fn message(kind: &EventType, data: &Data) -> Option<Message> {
    let role = Role::of(kind)?;
    if let Ok(system) = data.read::<&RawValue>()
        && system.get().starts_with(['"', '['])
    {
        // The payload is the value of a document's field `system`, not a message.
        return Some(Message { role, content: content(Some(system))? });
    }
    let shown: RecordFields<'_> = data.read().ok()?;
    if let Some(call_id) = shown.tool_call_id {
        let content = Data::from_checked(shown.content.map_or("\"\"", RawValue::get));
        let result = Part::ToolResult {
            call_id,
            name: shown.name,
            content,
            is_error: false,
            synthetic: false,
        };
        return Some(Message { role, content: Content::Parts(vec![result]) });
    }
    let mut message = Message { role, content: content(shown.content)? };
    if !shown.tool_calls.is_empty() {
        let mut parts = message.to_parts();
        parts.retain(|part| !matches!(part, Part::Text { text } if text.is_empty()));
        parts.extend(shown.tool_calls.into_iter().map(|call| Part::ToolCall {
            id: call.id,
            name: call.function.name,
            arguments: arguments(call.function.arguments),
        }));
        message.content = Content::Parts(parts);
    }
    Some(message)
}

fn content(raw: Option<&RawValue>) -> Option<Content> {
    let mut content = payload::content(raw.filter(|raw| raw.get() != "null")).ok()?;
    if let Content::Parts(parts) = &mut content {
        for part in parts {
            if let Part::Other { value } = part
                && let Some(block) = block(value)
            {
                *part = block;
            }
        }
    }
    Some(content)
}

fn block(value: &Data) -> Option<Part> {
    let block: ContentBlock<'_> = value.read().ok()?;
    match (&*block.kind.clone(), block) {
        ("tool_use", ContentBlock { id: Some(id), name, input, .. }) => Some(Part::ToolCall {
            id,
            name: name.unwrap_or_default(),
            arguments: Data::from_checked(input.map_or("{}", RawValue::get)),
        }),
        ("tool_result", ContentBlock { tool_use_id: Some(call_id), content, is_error, .. }) => {
            Some(Part::ToolResult {
                call_id,
                name: None,
                content: Data::from_checked(content.map_or("\"\"", RawValue::get)),
                is_error: is_error == Some(true),
                synthetic: false,
            })
        }
        ("thinking", ContentBlock { thinking: Some(text), .. }) => Some(Part::Reasoning {
            text,
            provider: Some("anthropic".into()),
            model: None,
            opaque: Some(value.clone()),
        }),
        _ => None,
    }
}

/// Returns the arguments of a tool call. OpenAI's API writes them as a string that contains JSON;
/// the result is then the JSON in that string.
fn arguments(raw: Option<&RawValue>) -> Data {
    let raw = raw.map_or("{}", RawValue::get);
    let inside = serde_json::from_str::<String>(raw).ok();
    inside.and_then(|text| Data::parse(&text).ok()).unwrap_or_else(|| Data::from_checked(raw))
}
