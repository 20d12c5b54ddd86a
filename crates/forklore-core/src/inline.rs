//! Finds images, documents and similar data that a part of a message contains as base64. The
//! functions read the formats of several agents and providers.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::message::{Content, Message, Part};

/// An image, document or similar data that a part of a message contains as base64.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inline<'a> {
    /// The media type that the message part declares for its data, like `image/png`.
    pub media_type: Cow<'a, str>,
    /// The base64 text of the data. It has not been validated.
    pub base64: Cow<'a, str>,
    /// The file name of the data, if the message part declares one.
    pub name: Option<Cow<'a, str>>,
}

/// Returns the data that a message part contains as base64. `part` is the JSON text of the message
/// part. `None` if the part contains no base64 data, for instance because it refers to a web URL.
/// The base64 text borrows from `part`, unless its JSON string contains escapes.
#[must_use]
pub fn inline(part: &str) -> Option<Inline<'_>> {
    let part = Fields::of(part)?;
    let name = part.name();
    // In this order: Gemini's format, Anthropic's format, and the OpenAI format that several agents
    // use.
    for nested in [part.inline_data, part.source, part.file].into_iter().flatten() {
        if let Some(found) = Fields::of(nested.get()).and_then(|fields| fields.itself()) {
            return Some(Inline { name: found.name.or(name), ..found });
        }
    }
    for url in [part.image_url, part.url].into_iter().flatten() {
        let nested = || Fields::of(url.get()).and_then(|fields| text(fields.url?));
        if let Some(found) = text(url).or_else(nested).and_then(data_url) {
            return Some(Inline { name, ..found });
        }
    }
    let kind = part.kind.and_then(text)?;
    if !["audio", "file", "input_file", "image", "resource"].contains(&&*kind) {
        return None;
    }
    part.itself()
}

/// Counts the images, documents and similar data that a message contains as base64. Returns their
/// number, and the total length of their base64 text in bytes.
#[must_use]
pub fn inline_bytes(message: &Message) -> (u64, u64) {
    let Content::Parts(parts) = &message.content else { return (0, 0) };
    let mut sum = (0, 0);
    let mut add = |json: &str| {
        if let Some(found) = inline(json) {
            sum = (sum.0 + 1, sum.1 + found.base64.len() as u64);
        }
    };
    for part in parts {
        match part {
            Part::Other { value } => add(value.get()),
            Part::ToolResult { content, .. } if content.get().starts_with('[') => {
                let parts: Vec<&RawValue> = content.read().unwrap_or_default();
                parts.iter().for_each(|part| add(part.get()));
            }
            _ => {}
        }
    }
    sum
}

/// The fields of a part of a message, in any of the supported formats, not yet decoded.
#[derive(Deserialize)]
struct Fields<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Raw<'a>,
    #[serde(borrow, default)]
    source: Raw<'a>,
    #[serde(borrow, default, rename = "inlineData")]
    inline_data: Raw<'a>,
    #[serde(borrow, default)]
    image_url: Raw<'a>,
    #[serde(borrow, default)]
    url: Raw<'a>,
    #[serde(borrow, default)]
    file: Raw<'a>,
    #[serde(borrow, default)]
    file_data: Raw<'a>,
    #[serde(borrow, default)]
    data: Raw<'a>,
    #[serde(borrow, default)]
    media_type: Raw<'a>,
    #[serde(borrow, default, rename = "mimeType")]
    mime_type: Raw<'a>,
    #[serde(borrow, default)]
    name: Raw<'a>,
    #[serde(borrow, default)]
    filename: Raw<'a>,
    #[serde(borrow, default)]
    title: Raw<'a>,
}

type Raw<'a> = Option<&'a RawValue>;

impl<'a> Fields<'a> {
    fn of(json: &'a str) -> Option<Self> {
        serde_json::from_str(json).ok()
    }

    fn name(&self) -> Option<Cow<'a, str>> {
        let names = [self.filename, self.name, self.title];
        names.into_iter().flatten().find_map(text).filter(|name| !name.is_empty())
    }

    /// Returns the base64 data if the object's own fields contain it. Nested objects are not
    /// searched.
    fn itself(&self) -> Option<Inline<'a>> {
        if let Some(found) = self.file_data.and_then(text).and_then(data_url) {
            return Some(Inline { name: self.name(), ..found });
        }
        let media_type = text(self.mime_type.or(self.media_type)?)?;
        let base64 = text(self.data?)?;
        Some(Inline { media_type, base64, name: self.name() })
    }
}

/// Decodes a JSON string; `None` if the value is not a string.
fn text(raw: &RawValue) -> Option<Cow<'_, str>> {
    let json = raw.get();
    let inside = json.strip_prefix('"')?.strip_suffix('"')?;
    if !inside.contains('\\') {
        return Some(Cow::Borrowed(inside));
    }
    serde_json::from_str(json).ok().map(Cow::Owned)
}

/// Decodes the header of a base64 `data:` URL; `None` for any other URL. The base64 text itself is
/// not decoded.
fn data_url(url: Cow<'_, str>) -> Option<Inline<'_>> {
    let (head, base64) = url.strip_prefix("data:")?.split_once(";base64,")?;
    // Drop parameters of the media type, such as a character set: they are irrelevant to an image.
    let media_type = head.split(';').next().unwrap_or(head).to_owned();
    let begin = url.len() - base64.len();
    let base64 = match url {
        Cow::Borrowed(url) => Cow::Borrowed(url.get(begin..)?),
        Cow::Owned(url) => Cow::Owned(url.get(begin..)?.to_owned()),
    };
    Some(Inline { media_type: media_type.into(), base64, name: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(json: &str) -> Option<(String, String, Option<String>)> {
        let found = inline(json)?;
        let owned = |text: Cow<'_, str>| text.into_owned();
        Some((owned(found.media_type), owned(found.base64), found.name.map(owned)))
    }

    #[test]
    fn images_are_recognised_in_every_form() {
        let forms = [
            r#"{"type":"image","data":"AA==","mimeType":"image/png"}"#,
            r#"{"type":"image","data":"AA==","media_type":"image/png"}"#,
            r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA=="}}"#,
            r#"{"inlineData":{"mimeType":"image/png","data":"AA=="}}"#,
            r#"{"type":"input_image","image_url":"data:image/png;base64,AA=="}"#,
            r#"{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}}"#,
            r#"{"type":"file","mime":"image/png","url":"data:image/png;base64,AA=="}"#,
            r#"{"type":"image","mimeType":"image\/png","data":"A\u0041=="}"#,
        ];
        for form in forms {
            let image = ("image/png".to_owned(), "AA==".to_owned(), None);
            assert_eq!(found(form), Some(image), "{form}");
        }
    }

    #[test]
    fn documents_have_their_names() {
        let forms = [
            r#"{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,JVBE"}}"#,
            r#"{"type":"input_file","filename":"a.pdf","file_data":"data:application/pdf;base64,JVBE"}"#,
            r#"{"type":"document","title":"a.pdf","source":{"type":"base64","media_type":"application/pdf","data":"JVBE"}}"#,
            r#"{"type":"file","filename":"a.pdf","url":"data:application/pdf;x=1;base64,JVBE"}"#,
        ];
        for form in forms {
            let name = Some("a.pdf".to_owned());
            let document = ("application/pdf".to_owned(), "JVBE".to_owned(), name);
            assert_eq!(found(form), Some(document), "{form}");
        }
    }

    #[test]
    fn nothing_else_is_recognised_as_one() {
        let others = [
            "7",
            r#""text""#,
            r#"{"type":"text","text":"data:image/png;base64,AA=="}"#,
            r#"{"type":"image","source":{"type":"url","url":"https://example.com/a.png"}}"#,
            r#"{"type":"image_url","image_url":{"url":"https://example.com/a.png"}}"#,
            r#"{"type":"image","source":{}}"#,
            r#"{"type":"image","data":7,"mimeType":"image/png"}"#,
            r#"{"type":"x.mine","data":"AA==","mimeType":"image/png"}"#,
            r#"{"type":"image","url":"data:image/png,raw"}"#,
        ];
        for other in others {
            assert_eq!(found(other), None, "{other}");
        }
    }
}
