//! Formats one part of a message for users.

use std::borrow::Cow;

use forklore::core::{Data, Inline, Part, inline};
use serde_json::value::RawValue;

use super::Calls;
use crate::output::{Tone, bytes};

/// Returns a part of a message as text. `calls` has the tools of the calls before it.
pub(super) fn text(part: &Part, calls: &mut Calls) -> (Tone, String) {
    match part {
        Part::Text { text } => (Tone::Plain, text.clone()),
        Part::Reasoning { text, .. } if text.is_empty() => {
            (Tone::Dim, "(thinking, not readable)".into())
        }
        Part::Reasoning { text, .. } => (Tone::Dim, format!("(thinking) {text}")),
        Part::ToolCall { id, name, arguments } => {
            calls.open(id, name);
            (Tone::Tool, format!("→ {name} {}", arguments.get()))
        }
        Part::ToolResult { call_id, name, content, is_error, synthetic } => {
            let tool = calls.close(call_id);
            let who = name.as_deref().or(tool.as_deref()).unwrap_or(call_id);
            let mark = match (synthetic, is_error) {
                (true, _) => " (synthetic)",
                (false, true) => " (failed)",
                (false, false) => "",
            };
            (Tone::Plain, format!("← {who}{mark}: {}", result(content)))
        }
        Part::Attachment { r#ref, media_type, name, missing } => {
            let name = name.as_deref().unwrap_or(r#ref);
            let mark = if *missing { ", missing" } else { "" };
            (Tone::Dim, format!("(attachment {name}, {media_type}{mark})"))
        }
        Part::Other { value } => (Tone::Dim, other(value.get()).into_owned()),
    }
}

/// Returns the content of a tool's result: a text, a list of parts, or else JSON.
fn result(content: &Data) -> String {
    if let Ok(text) = content.read::<String>() {
        return text;
    }
    match content.read::<Vec<&RawValue>>() {
        Ok(parts) => {
            let parts: Vec<_> = parts.into_iter().map(|part| in_result(part.get())).collect();
            parts.join("\n")
        }
        Err(_) => other(content.get()).into_owned(),
    }
}

fn in_result(part: &str) -> Cow<'_, str> {
    #[derive(serde::Deserialize)]
    struct Text {
        text: String,
    }
    serde_json::from_str::<Text>(part).map_or_else(|_| other(part), |part| part.text.into())
}

/// Returns a part as JSON. The bytes of an image or a document are replaced by its media type and
/// size.
fn other(part: &str) -> Cow<'_, str> {
    let Some(Inline { media_type, base64, name }) = inline(part) else { return part.into() };
    let kind = match media_type.split_once('/') {
        Some(("image", _)) => "image",
        Some(("audio", _)) => "audio",
        _ => "file",
    };
    let name = name.map(|name| format!("{name}, ")).unwrap_or_default();
    // Four characters of base64 are three bytes.
    let size = bytes(base64.trim_end_matches('=').len() as u64 * 3 / 4);
    format!("[{kind} {name}{media_type}, {size}]").into()
}
