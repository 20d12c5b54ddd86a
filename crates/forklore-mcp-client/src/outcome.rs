//! What a server answers, as the log keeps it: a text, or a list of parts.

use forklore_agent::tool::ToolOutcome;
use forklore_core::Data;
use rmcp::model::{CallToolResult, ContentBlock, Resource, ResourceContents};
use serde_json::{Value, json};

/// A call that came to nothing, and why.
pub(crate) fn failed(why: &str) -> ToolOutcome {
    ToolOutcome { content: text(why), is_error: true }
}

/// A result, with at most `most` bytes of text. Images and other data stand in it as they came: the
/// kernel keeps them beside the log.
pub(crate) fn of(result: CallToolResult, most: usize) -> ToolOutcome {
    let mut room = Room { text: most };
    let mut parts: Vec<Value> = result.content.into_iter().map(|block| room.part(block)).collect();
    if let Some(value) = result.structured_content
        && !parts.iter().any(|part| says(part, &value))
    {
        parts.push(room.words(&value.to_string()));
    }
    let content = match parts.as_slice() {
        [] => text(""),
        [only] if is_plain(only) => text(only["text"].as_str().unwrap_or_default()),
        parts => Data::of(parts).unwrap_or_else(|_| Data::null()),
    };
    ToolOutcome { content, is_error: result.is_error == Some(true) }
}

/// Whether a part is a text and nothing else.
fn is_plain(part: &Value) -> bool {
    part["type"] == "text" && part.as_object().is_some_and(|part| part.len() == 2)
}

/// Whether a part is the text form of a structured result, which servers are to send as well. Some
/// put a text or a number that has no fields into an object of one field for it.
fn says(part: &Value, value: &Value) -> bool {
    let Some(text) = part["text"].as_str() else { return false };
    let said = serde_json::from_str::<Value>(text).ok();
    let only = value.as_object().filter(|fields| fields.len() == 1);
    let only = only.and_then(|fields| fields.values().next());
    let is_said = |value: &Value| said.as_ref() == Some(value) || value.as_str() == Some(text);
    is_said(value) || only.is_some_and(is_said)
}

fn text(text: &str) -> Data {
    Data::of(text).unwrap_or_else(|_| Data::null())
}

/// How much a result may still hold.
struct Room {
    text: usize,
}

impl Room {
    fn part(&mut self, block: ContentBlock) -> Value {
        match block {
            ContentBlock::Text(said) => self.words(&said.text),
            ContentBlock::Image(image) => data("image", &image.mime_type, &image.data),
            ContentBlock::Audio(audio) => data("audio", &audio.mime_type, &audio.data),
            ContentBlock::Resource(embedded) => self.resource(embedded.resource),
            ContentBlock::ResourceLink(link) => self.link(link),
            // A kind that this version does not know is kept as it came.
            other => self.json(&serde_json::to_value(other).unwrap_or_default()),
        }
    }

    fn words(&mut self, said: &str) -> Value {
        json!({"type": "text", "text": self.cut(said)})
    }

    fn json(&mut self, value: &Value) -> Value {
        let len = value.to_string().len();
        if len > self.text {
            return self.words(&value.to_string());
        }
        self.text -= len;
        value.clone()
    }

    fn resource(&mut self, resource: ResourceContents) -> Value {
        match resource {
            ResourceContents::TextResourceContents { uri, mime_type, text, .. } => {
                let part = self.words(&format!("{uri}\n{text}"));
                with(with(part, "uri", Some(uri)), "media_type", mime_type)
            }
            ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => {
                let media_type = mime_type.unwrap_or_else(|| "application/octet-stream".to_owned());
                with(data("resource", &media_type, &blob), "uri", Some(uri))
            }
            other => self.json(&serde_json::to_value(other).unwrap_or_default()),
        }
    }

    /// A link reads as a text, so that every model sees where it leads.
    fn link(&mut self, link: Resource) -> Value {
        let name = link.title.unwrap_or(link.name);
        let about = link.description.map(|about| format!("\n{about}")).unwrap_or_default();
        let part = self.words(&format!("{name}: {}{about}", link.uri));
        with(with(part, "uri", Some(link.uri)), "media_type", link.mime_type)
    }

    /// A text, or where it is too long its beginning and its end: what a program did stands at the
    /// beginning, and how it ended at the end.
    fn cut(&mut self, said: &str) -> String {
        if said.len() <= self.text {
            self.text -= said.len();
            return said.to_owned();
        }
        let head = boundary(said, self.text / 4 * 3);
        let tail = boundary(said, said.len() - self.text / 4);
        self.text = 0;
        let (Some(begin), Some(end)) = (said.get(..head), said.get(tail..)) else {
            return String::new();
        };
        format!("{begin}\n[{} bytes were left out here]\n{end}", tail - head)
    }
}

fn data(kind: &str, media_type: &str, base64: &str) -> Value {
    json!({"type": kind, "media_type": media_type, "data": base64})
}

/// A part with one more field, where there is one.
fn with(mut part: Value, key: &str, value: Option<String>) -> Value {
    if let (Some(value), Some(part)) = (value, part.as_object_mut()) {
        part.insert(key.to_owned(), value.into());
    }
    part
}

/// The last place at or before `at` where a character begins.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}
