//! Finds the text of a tool's result, in the forms of all agents.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::data::Data;
use crate::inline::{Inline, inline};
use crate::message::Part;
use crate::units::bytes;

/// The result of a tool call as people read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The text of the result. Of an image or another file in base64, it contains only the kind,
    /// the name, the media type and the size.
    pub text: String,
    /// Whether the tool failed.
    pub failed: bool,
    /// Whether forklore added the result, because the call had none.
    pub synthetic: bool,
}

impl Outcome {
    /// Reads a result; `None` if the part is no result.
    #[must_use]
    pub fn of(part: &Part) -> Option<Self> {
        let Part::ToolResult { content, is_error, synthetic, .. } = part else { return None };
        let content = content.readable();
        let (text, reports_failure) = text(&content);
        Some(Self { text, failed: *is_error || reports_failure, synthetic: *synthetic })
    }
}

/// The output of a tool in an object: `{"output": ...}`, as Codex and Gemini CLI write it.
#[derive(Deserialize)]
struct Wrapped {
    output: Option<String>,
    error: Option<String>,
    #[serde(default)]
    metadata: Metadata,
}

#[derive(Default, Deserialize)]
struct Metadata {
    #[serde(default)]
    exit_code: i64,
}

/// Returns the text of a result, and whether the content itself states that the tool failed.
fn text(content: &Data) -> (String, bool) {
    if let Ok(text) = content.read::<String>() {
        return wrapped(&text).unwrap_or((text, false));
    }
    match content.read::<Vec<&RawValue>>() {
        Ok(parts) => {
            let parts: Vec<_> = parts.into_iter().map(|part| in_list(part.get())).collect();
            (parts.join("\n"), false)
        }
        Err(_) => {
            wrapped(content.get()).unwrap_or_else(|| (in_list(content.get()).into_owned(), false))
        }
    }
}

fn wrapped(json: &str) -> Option<(String, bool)> {
    if !json.starts_with('{') {
        return None;
    }
    let Wrapped { output, error, metadata } = serde_json::from_str(json).ok()?;
    let failed = error.is_some() || metadata.exit_code != 0;
    Some((output.or(error)?, failed))
}

fn in_list(part: &str) -> Cow<'_, str> {
    #[derive(Deserialize)]
    struct Text {
        text: String,
    }
    serde_json::from_str::<Text>(part).map_or_else(|_| shortened(part), |part| part.text.into())
}

/// Returns a part of a message as text for people. Of an image or another file in base64, the text
/// has only the kind, the name, the media type and the size. Any other part is returned as JSON.
#[must_use]
pub fn shortened(part: &str) -> Cow<'_, str> {
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
