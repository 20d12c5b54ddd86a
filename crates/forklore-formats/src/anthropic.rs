//! Converts the blocks of a message in the form of Anthropic's API to the common form. Claude Code
//! and Factory Droid store such messages.

use forklore_core::{Data, Part};
use serde::Deserialize;
use serde_json::value::RawValue;

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

/// Converts a block of a message. `provider` and `model` name who wrote the message, if that is
/// known.
pub(crate) fn part(raw: &RawValue, provider: Option<&str>, model: Option<&str>) -> Part {
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
                provider: provider.map(str::to_owned),
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
