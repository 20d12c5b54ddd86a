//! Converts Amplifier's messages to the common form.

use forklore_core::{Content, Data, EventType, Message, Part, Role};
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
    tool_calls: Option<Vec<Called<'a>>>,
}

/// A tool call in the field `tool_calls` of a message. Amplifier writes the tool's name as `tool`;
/// messages in the form of OpenAI's API have it in `function`.
#[derive(Deserialize)]
struct Called<'a> {
    id: String,
    #[serde(default)]
    tool: Option<String>,
    #[serde(default)]
    name: Option<String>,
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow, default)]
    function: Option<Function<'a>>,
}

#[derive(Deserialize)]
struct Function<'a> {
    #[serde(default)]
    name: Option<String>,
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
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
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
    #[serde(default, alias = "tool_use_id")]
    tool_call_id: Option<String>,
    #[serde(borrow, default, alias = "content")]
    output: Option<&'a RawValue>,
    #[serde(default)]
    is_error: Option<bool>,
}

pub(super) fn message(kind: &EventType, data: &Data) -> Option<Message> {
    let role = Role::of(kind)?;
    let shown: RecordFields<'_> = data.read().ok()?;
    let content = shown.content.map_or("\"\"", RawValue::get);
    if let Some(call_id) = shown.tool_call_id {
        let content = Data::from_checked(content);
        let name = shown.name;
        let result = Part::ToolResult { call_id, name, content, is_error: false, synthetic: false };
        return Some(Message::parts(role, vec![result]));
    }
    let calls = shown.tool_calls.unwrap_or_default();
    let text = match content {
        "null" => Some(String::new()),
        content => serde_json::from_str::<String>(content).ok(),
    };
    let mut parts = match text {
        Some(text) if calls.is_empty() => return Some(Message::text(role, text)),
        Some(text) if text.is_empty() => Vec::new(),
        Some(text) => vec![Part::Text { text }],
        None => {
            let blocks: Vec<&RawValue> = serde_json::from_str(content).ok()?;
            blocks.into_iter().map(part).collect()
        }
    };
    for call in calls {
        // A call with the id of a call block is the same call.
        let is_call = |part: &Part| matches!(part, Part::ToolCall { id, .. } if *id == call.id);
        if !parts.iter().any(is_call) {
            parts.push(called(call));
        }
    }
    Some(Message { role, content: Content::Parts(parts) })
}

fn part(raw: &RawValue) -> Part {
    let other = || Part::Other { value: Data::from_checked(raw.get()) };
    let Ok(block) = serde_json::from_str::<ContentBlock<'_>>(raw.get()) else { return other() };
    match (&*block.kind.clone(), block) {
        ("text", ContentBlock { text: Some(text), .. }) => Part::Text { text },
        ("thinking" | "redacted_thinking" | "reasoning", ContentBlock { text, thinking, .. }) => {
            Part::Reasoning {
                text: thinking.or(text).unwrap_or_default(),
                provider: None,
                model: None,
                opaque: Some(Data::from_checked(raw.get())),
            }
        }
        ("tool_call" | "tool_use", ContentBlock { id: Some(id), name, input, arguments, .. }) => {
            let arguments = input.or(arguments).map_or("{}", RawValue::get);
            let arguments = Data::from_checked(arguments);
            Part::ToolCall { id, name: name.unwrap_or_default(), arguments }
        }
        (
            "tool_result",
            ContentBlock { tool_call_id: Some(call_id), name, output, is_error, .. },
        ) => {
            let content = Data::from_checked(output.map_or("\"\"", RawValue::get));
            let is_error = is_error == Some(true);
            Part::ToolResult { call_id, name, content, is_error, synthetic: false }
        }
        _ => other(),
    }
}

fn called(call: Called<'_>) -> Part {
    let (name, arguments) = call.function.map_or((None, None), |it| (it.name, it.arguments));
    let raw = call.arguments.or(arguments).map_or("{}", RawValue::get);
    let inside = serde_json::from_str::<String>(raw).ok();
    let inside = inside.and_then(|text| Data::parse(&text).ok());
    let arguments = inside.unwrap_or_else(|| Data::from_checked(raw));
    let name = call.tool.or(call.name).or(name).unwrap_or_default();
    Part::ToolCall { id: call.id, name, arguments }
}
