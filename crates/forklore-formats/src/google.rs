//! Converts the parts of a message in the form of Google's API to the common form. Gemini CLI and
//! Qwen Code store such messages.

use forklore_core::{Data, Part};
use serde::Deserialize;
use serde_json::value::RawValue;

/// A part of a message: text, a thought, a tool call or a tool result.
#[derive(Deserialize)]
pub(crate) struct Piece<'a> {
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    thought: Option<bool>,
    #[serde(borrow, default, rename = "functionCall")]
    call: Option<Function<'a>>,
    #[serde(borrow, default, rename = "functionResponse")]
    pub(crate) response: Option<Function<'a>>,
}

#[derive(Deserialize)]
pub(crate) struct Function<'a> {
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    name: Option<String>,
    #[serde(borrow, default)]
    args: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(crate) response: Option<&'a RawValue>,
}

/// Converts a part of a message. A part may also be plain text. `provider` and `model` name who
/// wrote the message, if that is known.
pub(crate) fn part(raw: &RawValue, provider: Option<&str>, model: Option<&str>) -> Part {
    if let Ok(text) = serde_json::from_str::<String>(raw.get()) {
        return Part::Text { text };
    }
    match serde_json::from_str::<Piece<'_>>(raw.get()) {
        Ok(Piece { response: Some(response), .. }) => Part::ToolResult {
            call_id: response.id.or_else(|| response.name.clone()).unwrap_or_default(),
            name: response.name,
            content: verbatim(response.response),
            is_error: false,
            synthetic: false,
        },
        Ok(Piece { call: Some(call), .. }) => Part::ToolCall {
            id: call.id.or_else(|| call.name.clone()).unwrap_or_default(),
            name: call.name.unwrap_or_default(),
            arguments: Data::from_checked(call.args.map_or("{}", RawValue::get)),
        },
        Ok(Piece { text: Some(text), thought: Some(true), .. }) => Part::Reasoning {
            text,
            provider: provider.map(str::to_owned),
            model: model.map(str::to_owned),
            opaque: Some(Data::from_checked(raw.get())),
        },
        Ok(Piece { text: Some(text), .. }) => Part::Text { text },
        _ => Part::Other { value: Data::from_checked(raw.get()) },
    }
}

/// Returns the bytes of a tool's response, or an empty string without a response.
pub(crate) fn verbatim(raw: Option<&RawValue>) -> Data {
    Data::from_checked(raw.map_or("\"\"", RawValue::get))
}
