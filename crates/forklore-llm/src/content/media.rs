//! Converts the images, documents and texts of a message to content parts. A note replaces each
//! image or document that is not sent.

use std::borrow::Cow;

use forklore_agent::media::{Media, NotSent};
use forklore_core::{Data, Inline, inline};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::MediaContext;

/// An image or a document in a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InlineMedia<'a> {
    pub(crate) media_type: &'static str,
    pub(crate) base64: Cow<'a, str>,
    pub(crate) name: Option<Cow<'a, str>>,
}

impl InlineMedia<'_> {
    pub(crate) fn is_image(&self) -> bool {
        self.media_type.starts_with("image/")
    }
}

/// Returns the note that replaces an image or a document where the API does not accept it.
pub(crate) fn note(shown: &InlineMedia<'_>) -> String {
    format!("[not sent: {}]", shown.media_type)
}

/// A part of a tool result or an attachment: text or media.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ContentPart<'a> {
    Text(Cow<'a, str>),
    Media(InlineMedia<'a>),
}

impl<'a> ContentPart<'a> {
    fn note(text: String) -> Self {
        Self::Text(text.into())
    }

    fn into_owned(self) -> ContentPart<'static> {
        match self {
            Self::Text(text) => ContentPart::Text(text.into_owned().into()),
            Self::Media(InlineMedia { media_type, base64, name }) => {
                ContentPart::Media(InlineMedia {
                    media_type,
                    base64: base64.into_owned().into(),
                    name: name.map(|name| name.into_owned().into()),
                })
            }
        }
    }
}

/// Converts an attachment to a content part: its media, its text, or a note that it is not sent.
pub(super) fn attachment<'b, 'a: 'b>(
    context: &mut MediaContext<'a>,
    reference: &str,
    media_type: &str,
    name: Option<Cow<'b, str>>,
    missing: bool,
) -> ContentPart<'b> {
    let called = name.as_deref().unwrap_or(reference).to_owned();
    let media = if missing { Err(NotSent::Missing) } else { context.attached.get(reference) };
    let accepted = media.and_then(|media| context.allowance.take(media).map(|()| media));
    match accepted {
        Ok(Media::Shown { sniffed, base64 }) => {
            let (media_type, base64) = (sniffed.media_type, base64.as_str().into());
            ContentPart::Media(InlineMedia { media_type, base64, name })
        }
        Ok(Media::Text(text)) => ContentPart::note(format!("[{called} ({media_type})]\n{text}")),
        Err(NotSent::NotAccepted | NotSent::Missing) => {
            ContentPart::note(format!("[attachment, not sent: {called} ({media_type})]"))
        }
        Err(why) => ContentPart::note(format!("[attachment, {why}: {called} ({media_type})]")),
    }
}

/// Converts a part in a provider's or an agent's own format to a content part. The result is the
/// image or document in the part, or a note that the part is not sent.
pub(super) fn other<'b>(context: &mut MediaContext<'_>, json: &'b str) -> ContentPart<'b> {
    if let Some(Inline { media_type, base64, name }) = inline(json) {
        return match context.allowance.take_base64(&media_type, &base64) {
            Ok(sniffed) => {
                ContentPart::Media(InlineMedia { media_type: sniffed.media_type, base64, name })
            }
            Err(NotSent::NotAccepted) => ContentPart::note(format!("[not sent: {media_type}]")),
            Err(why) => ContentPart::note(format!("[{why}: {media_type}]")),
        };
    }
    ContentPart::note(format!("[not sent: {}]", kind(json)))
}

fn kind(json: &str) -> String {
    #[derive(Deserialize)]
    struct Kind {
        #[serde(default, rename = "type")]
        kind: Option<String>,
    }
    let kind = serde_json::from_str::<Kind>(json).ok().and_then(|part| part.kind);
    kind.unwrap_or_else(|| "a part of no known kind".to_owned())
}

/// Returns the content parts of a tool result: a string as one text, a list part by part, and any
/// other value as JSON text.
pub(super) fn result<'a>(
    context: &mut MediaContext<'a>,
    content: &'a Data,
) -> Vec<ContentPart<'a>> {
    match content.readable() {
        Cow::Borrowed(content) => parts_of(context, content.get()),
        Cow::Owned(content) => {
            let parts = parts_of(context, content.get()).into_iter();
            parts.map(ContentPart::into_owned).collect()
        }
    }
}

fn parts_of<'b, 'a: 'b>(context: &mut MediaContext<'a>, content: &'b str) -> Vec<ContentPart<'b>> {
    if let Ok(text) = serde_json::from_str::<String>(content) {
        return vec![ContentPart::note(text)];
    }
    let parts: Option<Vec<&'b RawValue>> = serde_json::from_str(content).ok();
    let read = |raw: &'b RawValue| Some((raw, Part::of(raw.get())?));
    let parts = parts.and_then(|all| all.into_iter().map(read).collect::<Option<Vec<_>>>());
    let Some(parts) = parts else { return vec![ContentPart::Text(content.into())] };
    let piece = |(raw, part): (&'b RawValue, Part)| match (part.kind.clone().as_deref(), part) {
        (Some("text"), Part { text: Some(text), .. }) => ContentPart::note(text),
        (Some("attachment"), Part { reference: Some(reference), media_type, name, .. }) => {
            let media_type = media_type.unwrap_or_default();
            attachment(context, &reference, &media_type, name.map(Cow::Owned), false)
        }
        _ => other(context, raw.get()),
    };
    parts.into_iter().map(piece).collect()
}

/// A part of a tool result, in the form in which the log stores it.
#[derive(Deserialize)]
struct Part {
    #[serde(default, rename = "type")]
    kind: Option<String>,
    #[serde(default)]
    text: Option<String>,
    #[serde(default, rename = "ref")]
    reference: Option<String>,
    #[serde(default)]
    media_type: Option<String>,
    #[serde(default)]
    name: Option<String>,
}

impl Part {
    /// Parses a part. Returns `None` if the JSON value is not a part.
    fn of(json: &str) -> Option<Self> {
        let part: Self = serde_json::from_str(json).ok()?;
        (part.kind.is_some() || inline(json).is_some()).then_some(part)
    }
}

/// Returns the text of a tool result. Each image or document is replaced with the text that `mark`
/// returns.
pub(crate) fn as_text(
    pieces: &[ContentPart<'_>],
    mark: impl Fn(&InlineMedia<'_>) -> String,
) -> String {
    let texts = pieces.iter().map(|piece| match piece {
        ContentPart::Text(text) => Cow::Borrowed(&**text),
        ContentPart::Media(shown) => mark(shown).into(),
    });
    texts.collect::<Vec<_>>().join("\n")
}
