//! Attachments of a tool result: its images, and its complete content if the result is truncated.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use forklore_core::limits::{ATTACHMENT_BYTES, ATTACHMENT_NAME_BYTES};
use forklore_core::{Data, Inline, inline};
use forklore_engine::{Engine, Pin};
use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use super::log::Log;
use super::truncate::{truncated, whole};
use crate::media::sniff;
use crate::tool::ToolOutcome;

/// If the store cannot store base64 data as an attachment, the part with this data stays in the
/// result up to this length in bytes.
const INLINE: usize = 96 << 10;

/// The attachments of a tool result. They stay pinned until the event that names them is written.
#[derive(Default)]
pub(super) struct Attachments {
    whole: Option<Value>,
    /// The pins, which protect the attachments from `gc`.
    pinned: Vec<Pin>,
}

impl Attachments {
    /// Returns the part that references the complete content of a truncated result. Returns `None`
    /// if the result was not truncated, or if the store could not store the attachment.
    pub(super) fn whole(&self) -> Option<&Value> {
        self.whole.as_ref()
    }
}

/// Converts a tool's outcome to the form that the log stores. Images and other inline bytes become
/// attachments. Content longer than `most` bytes is truncated, and the complete content becomes an
/// attachment. If the store cannot store an attachment, the truncated content alone is stored.
pub(super) async fn attach(
    log: &Log<'_>,
    most: usize,
    outcome: ToolOutcome,
) -> (ToolOutcome, Attachments) {
    let content = outcome.content.get();
    if content.len() <= most && !content.starts_with('[') {
        return (outcome, Attachments::default());
    }
    let all = outcome.clone();
    let attached = log.context.kernel.run(move |engine| {
        let mut attachments = Attachments::default();
        let content = without_inline_bytes(engine, all.content, &mut attachments);
        if content.get().len() <= most {
            return Ok((ToolOutcome { content, ..all }, attachments));
        }
        let (bytes, media_type) = whole(&content);
        if let Ok(attachment) = engine.put_attachment(&mut bytes.as_slice(), ATTACHMENT_BYTES) {
            let part =
                json!({"type": "attachment", "ref": attachment.id, "media_type": media_type});
            attachments.whole = Some(part);
            attachments.pinned.push(attachment);
        }
        Ok((ToolOutcome { content: truncated(content, most), ..all }, attachments))
    });
    attached.await.unwrap_or_else(|_| {
        let content = truncated(outcome.content, most);
        (ToolOutcome { content, ..outcome }, Attachments::default())
    })
}

/// Replaces the inline bytes in the content of a result with attachments.
fn without_inline_bytes(engine: &Engine, content: Data, attachments: &mut Attachments) -> Data {
    let Ok(parts) = content.read::<Vec<&RawValue>>() else { return content };
    if !parts.iter().any(|part| inline(part.get()).is_some()) {
        return content;
    }
    let part = |part: &RawValue| match inline(part.get()) {
        Some(found) => named(engine, part, found, attachments),
        None => Some(part.to_owned()),
    };
    let parts: Option<Vec<Box<RawValue>>> = parts.iter().copied().map(part).collect();
    parts.and_then(|parts| Data::of(&parts).ok()).unwrap_or(content)
}

/// Stores the inline bytes of `part` as an attachment, and returns a part that references it. If
/// the base64 data is damaged, returns a text part that describes the data. If the store cannot
/// store the bytes, returns `part` unchanged, or the text part if `part` is longer than [`INLINE`].
/// Returns `None` if the new part cannot be encoded as JSON.
fn named(
    engine: &Engine,
    part: &RawValue,
    found: Inline<'_>,
    attachments: &mut Attachments,
) -> Option<Box<RawValue>> {
    #[derive(Deserialize)]
    struct Resource {
        #[serde(default)]
        uri: Option<String>,
    }
    let Inline { media_type, base64, name } = found;
    let left_out = |why: &str| {
        let text = format!("[{media_type}, {} bytes of base64, left out{why}]", base64.len());
        to_raw_value(&json!({"type": "text", "text": text})).ok()
    };
    let Ok(bytes) = BASE64_STANDARD.decode(&*base64) else {
        return left_out(": it is damaged");
    };
    let Ok(attachment) = engine.put_attachment(&mut bytes.as_slice(), ATTACHMENT_BYTES) else {
        return if part.get().len() <= INLINE { Some(part.to_owned()) } else { left_out("") };
    };
    let is_plain = media_type.len() <= ATTACHMENT_NAME_BYTES
        && media_type.contains('/')
        && media_type.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic());
    let declared = if is_plain { &*media_type } else { "application/octet-stream" };
    let media_type = sniff(&bytes).map_or(declared, |sniffed| sniffed.media_type);
    let mut named = json!({"type": "attachment", "ref": attachment.id, "media_type": media_type});
    attachments.pinned.push(attachment);
    let uri = serde_json::from_str(part.get()).ok().and_then(|resource: Resource| resource.uri);
    let name = name.filter(|name| name.len() <= ATTACHMENT_NAME_BYTES);
    for (key, value) in [("name", name.map(String::from)), ("uri", uri)] {
        if let (Some(value), Some(fields)) = (value, named.as_object_mut()) {
            fields.insert(key.to_owned(), value.into());
        }
    }
    to_raw_value(&named).ok()
}
