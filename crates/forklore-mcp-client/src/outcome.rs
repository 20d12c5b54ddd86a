//! Converts tool results to the form that the log stores: a string, or a list of parts.

use forklore_agent::tool::ToolOutcome;
use forklore_core::Data;
use rmcp::model::{CallToolResult, ContentBlock, Resource, ResourceContents};
use serde_json::{Value, json};

/// Returns the result of a failed call, with `why` as its error message.
pub(crate) fn failed(why: &str) -> ToolOutcome {
    ToolOutcome { content: text(why), is_error: true }
}

/// Converts the result of an MCP tool call, and truncates its text to about `most` bytes in total.
/// Images and other binary data stay whole, because forklore stores them separately, as
/// attachments.
pub(crate) fn of(result: CallToolResult, most: usize) -> ToolOutcome {
    let mut budget = TextBudget { left: most };
    let mut parts: Vec<Value> =
        result.content.into_iter().map(|block| budget.part(block)).collect();
    if let Some(value) = result.structured_content
        && !parts.iter().any(|part| says(part, &value))
    {
        parts.push(budget.text(&value.to_string()));
    }
    let content = match parts.as_slice() {
        [] => text(""),
        [only] if is_plain(only) => text(only["text"].as_str().unwrap_or_default()),
        parts => Data::of(parts).unwrap_or_else(|_| Data::null()),
    };
    ToolOutcome { content, is_error: result.is_error == Some(true) }
}

/// Checks whether a part of a tool's result has only text, without further fields.
fn is_plain(part: &Value) -> bool {
    part["type"] == "text" && part.as_object().is_some_and(|part| part.len() == 2)
}

/// Checks whether a text part of a tool's result repeats the structured result `value`. Servers
/// send both forms. The text may also repeat the value of the only field of `value`, because some
/// servers wrap a string or a number into an object.
fn says(part: &Value, value: &Value) -> bool {
    let Some(text) = part["text"].as_str() else { return false };
    let parsed = serde_json::from_str::<Value>(text).ok();
    let only = value.as_object().filter(|fields| fields.len() == 1);
    let only = only.and_then(|fields| fields.values().next());
    let is_equal = |value: &Value| parsed.as_ref() == Some(value) || value.as_str() == Some(text);
    is_equal(value) || only.is_some_and(is_equal)
}

fn text(text: &str) -> Data {
    Data::of(text).unwrap_or_else(|_| Data::null())
}

/// The number of bytes of text that the result of one tool call may still receive.
struct TextBudget {
    left: usize,
}

impl TextBudget {
    fn part(&mut self, block: ContentBlock) -> Value {
        match block {
            ContentBlock::Text(content) => self.text(&content.text),
            ContentBlock::Image(image) => data("image", &image.mime_type, &image.data),
            ContentBlock::Audio(audio) => data("audio", &audio.mime_type, &audio.data),
            ContentBlock::Resource(embedded) => self.resource(embedded.resource),
            ContentBlock::ResourceLink(link) => self.link(link),
            // A block of an unknown kind stays unchanged, as JSON.
            other => self.json(&serde_json::to_value(other).unwrap_or_default()),
        }
    }

    fn text(&mut self, text: &str) -> Value {
        json!({"type": "text", "text": self.cut(text)})
    }

    fn json(&mut self, value: &Value) -> Value {
        let len = value.to_string().len();
        if len > self.left {
            return self.text(&value.to_string());
        }
        self.left -= len;
        value.clone()
    }

    fn resource(&mut self, resource: ResourceContents) -> Value {
        match resource {
            ResourceContents::TextResourceContents { uri, mime_type, text, .. } => {
                let part = self.text(&format!("{uri}\n{text}"));
                with(with(part, "uri", Some(uri)), "media_type", mime_type)
            }
            ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => {
                let media_type = mime_type.unwrap_or_else(|| "application/octet-stream".to_owned());
                with(data("resource", &media_type, &blob), "uri", Some(uri))
            }
            other => self.json(&serde_json::to_value(other).unwrap_or_default()),
        }
    }

    /// Converts a resource link in a tool's result to a text part, so that every model sees the
    /// target of the link.
    fn link(&mut self, link: Resource) -> Value {
        let name = link.title.unwrap_or(link.name);
        let about = link.description.map(|about| format!("\n{about}")).unwrap_or_default();
        let part = self.text(&format!("{name}: {}{about}", link.uri));
        with(with(part, "uri", Some(link.uri)), "media_type", link.mime_type)
    }

    /// Removes the middle of a text that is longer than the rest of the result's text budget.
    /// Retains the beginning, which shows what a program did, and the end, which shows how the
    /// program ended.
    fn cut(&mut self, text: &str) -> String {
        if text.len() <= self.left {
            self.left -= text.len();
            return text.to_owned();
        }
        let head = boundary(text, self.left / 4 * 3);
        let tail = boundary(text, text.len() - self.left / 4);
        self.left = 0;
        let (Some(begin), Some(end)) = (text.get(..head), text.get(tail..)) else {
            return String::new();
        };
        format!("{begin}\n[{} bytes were left out here]\n{end}", tail - head)
    }
}

fn data(kind: &str, media_type: &str, base64: &str) -> Value {
    json!({"type": kind, "media_type": media_type, "data": base64})
}

/// Adds the field `key` to a part of a tool's result, unless `value` is `None`.
fn with(mut part: Value, key: &str, value: Option<String>) -> Value {
    if let (Some(value), Some(part)) = (value, part.as_object_mut()) {
        part.insert(key.to_owned(), value.into());
    }
    part
}

/// Returns the last character boundary at or before the byte offset `at`.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}
