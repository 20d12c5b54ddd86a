//! Converts Gemini CLI's messages to the common form.

use forklore_core::{Data, EventType, Message, Part, Role};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::message::parts;

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

#[derive(Deserialize)]
struct Piece<'a> {
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    thought: Option<bool>,
    #[serde(borrow, default, rename = "functionCall")]
    call: Option<Function<'a>>,
    #[serde(borrow, default, rename = "functionResponse")]
    response: Option<Function<'a>>,
}

#[derive(Deserialize)]
struct Function<'a> {
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    name: Option<String>,
    #[serde(borrow, default)]
    args: Option<&'a RawValue>,
    #[serde(borrow, default)]
    response: Option<&'a RawValue>,
}

/// Converts a stored message to a [`Message`]. Of a `tool_call` event, converts only the tool
/// calls, because the message is repeated and only they are new. Of a `tool_result` event, converts
/// only the results, because the message contains only results or repeats everything else.
pub(super) fn message(kind: &EventType, data: &Data) -> Option<Message> {
    let shown: RecordFields<'_> = data.read().ok()?;
    let content = shown.content.or(shown.parts);
    let parts = || content.map(parts).unwrap_or_default().into_iter().map(|raw| part(raw, &shown));
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

fn part(raw: &RawValue, shown: &RecordFields<'_>) -> Part {
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
            provider: Some("google".into()),
            model: shown.model.clone(),
            opaque: Some(Data::from_checked(raw.get())),
        },
        Ok(Piece { text: Some(text), .. }) => Part::Text { text },
        _ => Part::Other { value: Data::from_checked(raw.get()) },
    }
}

fn verbatim(raw: Option<&RawValue>) -> Data {
    Data::from_checked(raw.map_or("\"\"", RawValue::get))
}

impl Thought {
    fn part(self, shown: &RecordFields<'_>) -> Part {
        Part::Reasoning {
            text: [self.subject, self.description].join("\n"),
            provider: Some("google".into()),
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
