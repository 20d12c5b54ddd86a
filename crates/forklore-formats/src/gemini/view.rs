//! Converts Gemini CLI's messages to the common form.

use forklore_core::{Data, EventType, Message, Part, Role};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::message::parts;
use crate::google::{Piece, part, verbatim};

const PROVIDER: &str = "google";

#[derive(Deserialize)]
struct RecordFields<'a> {
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    parts: Option<&'a RawValue>,
    #[serde(borrow, default)]
    thoughts: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "toolCalls")]
    tool_calls: Option<&'a RawValue>,
    #[serde(default)]
    model: Option<String>,
}

#[derive(Deserialize)]
struct Thought {
    #[serde(default)]
    subject: String,
    #[serde(default)]
    description: String,
}

#[derive(Deserialize)]
struct ToolCall<'a> {
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    name: String,
    #[serde(borrow, default)]
    args: Option<&'a RawValue>,
    #[serde(borrow, default)]
    result: Option<&'a RawValue>,
    #[serde(default)]
    status: Option<String>,
}

/// Converts a stored message to a [`Message`]. Of a `tool_call` event, converts only the tool calls
/// and their results, because the message repeats an earlier one and only these are new. Of a
/// `tool_result` event, converts only the results, because the message contains only results or
/// repeats everything else. Of a `user_message` or an `assistant_message` event, converts the whole
/// message. Returns `None` for any other event, or if the event's data cannot be read.
pub(super) fn message(kind: &EventType, data: &Data) -> Option<Message> {
    let shown: RecordFields<'_> = data.read().ok()?;
    let content = shown.content.or(shown.parts);
    let (provider, model) = (Some(PROVIDER), shown.model.as_deref());
    let parts = || {
        let raw = content.map(parts).unwrap_or_default().into_iter();
        raw.map(|raw| part(raw, provider, model))
    };
    let calls = || shown.tool_calls.map(elements).unwrap_or_default();
    let (role, parts) = match kind.as_str() {
        "user_message" => (Role::User, parts().collect()),
        "assistant_message" => {
            let thoughts = shown.thoughts.map(elements::<Thought>).unwrap_or_default();
            let thoughts = thoughts.into_iter().map(|thought| thought.part(&shown));
            let calls = calls().into_iter().flat_map(ToolCall::parts);
            (Role::Assistant, thoughts.chain(parts()).chain(calls).collect())
        }
        "tool_call" => (Role::Assistant, calls().into_iter().flat_map(ToolCall::parts).collect()),
        "tool_result" => {
            let results = calls().into_iter().filter_map(|call| call.result_part());
            let output_fields = parts().filter(|part| matches!(part, Part::ToolResult { .. }));
            (Role::Tool, output_fields.chain(results).collect())
        }
        _ => return None,
    };
    Some(Message::parts(role, parts))
}

fn elements<'a, T: Deserialize<'a>>(raw: &'a RawValue) -> Vec<T> {
    let all: Vec<&RawValue> = serde_json::from_str(raw.get()).unwrap_or_default();
    all.into_iter().filter_map(|raw| serde_json::from_str(raw.get()).ok()).collect()
}

impl Thought {
    fn part(self, shown: &RecordFields<'_>) -> Part {
        Part::Reasoning {
            text: [self.subject, self.description].join("\n"),
            provider: Some(PROVIDER.into()),
            model: shown.model.clone(),
            opaque: None,
        }
    }
}

impl ToolCall<'_> {
    fn parts(self) -> Vec<Part> {
        let result = self.result_part();
        let call = Part::ToolCall {
            id: self.id(),
            arguments: Data::from_checked(self.args.map_or("{}", RawValue::get)),
            name: self.name,
        };
        std::iter::once(call).chain(result).collect()
    }

    fn id(&self) -> String {
        self.id.clone().unwrap_or_else(|| self.name.clone())
    }

    /// Returns the result of the tool call, or `None` if it has no result yet. If the result is a
    /// single `functionResponse`, the content is the `response` in it.
    fn result_part(&self) -> Option<Part> {
        let over = matches!(self.status.as_deref(), Some("success" | "error" | "cancelled"));
        if self.result.is_none() && !over {
            return None;
        }
        let pieces = self.result.map(elements::<Piece<'_>>).unwrap_or_default();
        let parts = match &*pieces {
            [Piece { response: Some(response), .. }] => response.response,
            _ => self.result,
        };
        Some(Part::ToolResult {
            call_id: self.id(),
            name: Some(self.name.clone()),
            content: verbatim(parts),
            is_error: matches!(self.status.as_deref(), Some("error" | "cancelled")),
            synthetic: false,
        })
    }
}
