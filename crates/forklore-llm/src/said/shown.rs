//! Images, documents and texts that go along with a message, or a note where they do not.

use std::borrow::Cow;

use forklore_agent::media::{Media, NotSent};
use forklore_core::{Data, Inline, inline};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::Along;

/// An image or a document that is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shown<'a> {
    pub(crate) media_type: &'static str,
    pub(crate) base64: Cow<'a, str>,
    pub(crate) name: Option<Cow<'a, str>>,
}

impl Shown<'_> {
    pub(crate) fn is_image(&self) -> bool {
        self.media_type.starts_with("image/")
    }
}

/// What stands in place of something that a form has no place for.
pub(crate) fn note(shown: &Shown<'_>) -> String {
    format!("[not sent: {}]", shown.media_type)
}

/// A piece of what is shown to the model: words, or something to look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    Text(Cow<'a, str>),
    Shown(Shown<'a>),
}

impl<'a> Piece<'a> {
    fn note(text: String) -> Self {
        Self::Text(text.into())
    }

    fn into_owned(self) -> Piece<'static> {
        match self {
            Self::Text(text) => Piece::Text(text.into_owned().into()),
            Self::Shown(Shown { media_type, base64, name }) => Piece::Shown(Shown {
                media_type,
                base64: base64.into_owned().into(),
                name: name.map(|name| name.into_owned().into()),
            }),
        }
    }
}

/// What an attachment is sent as.
pub(super) fn attachment<'b, 'a: 'b>(
    along: &mut Along<'a>,
    reference: &str,
    media_type: &str,
    name: Option<Cow<'b, str>>,
    missing: bool,
) -> Piece<'b> {
    let called = name.as_deref().unwrap_or(reference).to_owned();
    let media = if missing { Err(NotSent::Missing) } else { along.attached.get(reference) };
    let taken = media.and_then(|media| along.room.take(media).map(|()| media));
    match taken {
        Ok(Media::Shown { sniffed, base64 }) => {
            let (media_type, base64) = (sniffed.media_type, base64.as_str().into());
            Piece::Shown(Shown { media_type, base64, name })
        }
        Ok(Media::Text(text)) => Piece::note(format!("[{called} ({media_type})]\n{text}")),
        Err(NotSent::NotTaken | NotSent::Missing) => {
            Piece::note(format!("[attachment, not sent: {called} ({media_type})]"))
        }
        Err(why) => Piece::note(format!("[attachment, {why}: {called} ({media_type})]")),
    }
}

/// What a part of a provider's or an agent's own form is sent as.
pub(super) fn other<'b>(along: &mut Along<'_>, json: &'b str) -> Piece<'b> {
    if let Some(Inline { media_type, base64, name }) = inline(json) {
        return match along.room.take_base64(&media_type, &base64) {
            Ok(sniffed) => Piece::Shown(Shown { media_type: sniffed.media_type, base64, name }),
            Err(NotSent::NotTaken) => Piece::note(format!("[not sent: {media_type}]")),
            Err(why) => Piece::note(format!("[{why}: {media_type}]")),
        };
    }
    Piece::note(format!("[not sent: {}]", kind(json)))
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

/// A result: a string is itself, a list is its parts, all else is its JSON.
pub(super) fn result<'a>(along: &mut Along<'a>, content: &'a Data) -> Vec<Piece<'a>> {
    match content.readable() {
        Cow::Borrowed(content) => parts_of(along, content.get()),
        Cow::Owned(content) => {
            let parts = parts_of(along, content.get()).into_iter();
            parts.map(Piece::into_owned).collect()
        }
    }
}

fn parts_of<'b, 'a: 'b>(along: &mut Along<'a>, content: &'b str) -> Vec<Piece<'b>> {
    if let Ok(text) = serde_json::from_str::<String>(content) {
        return vec![Piece::note(text)];
    }
    let parts: Option<Vec<&'b RawValue>> = serde_json::from_str(content).ok();
    let read = |raw: &'b RawValue| Some((raw, Part::of(raw.get())?));
    let parts = parts.and_then(|all| all.into_iter().map(read).collect::<Option<Vec<_>>>());
    let Some(parts) = parts else { return vec![Piece::Text(content.into())] };
    let piece = |(raw, part): (&'b RawValue, Part)| match (part.kind.clone().as_deref(), part) {
        (Some("text"), Part { text: Some(text), .. }) => Piece::note(text),
        (Some("attachment"), Part { reference: Some(reference), media_type, name, .. }) => {
            let media_type = media_type.unwrap_or_default();
            attachment(along, &reference, &media_type, name.map(Cow::Owned), false)
        }
        _ => other(along, raw.get()),
    };
    parts.into_iter().map(piece).collect()
}

/// A part of a result.
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
    /// None where a list says something else than parts.
    fn of(json: &str) -> Option<Self> {
        let part: Self = serde_json::from_str(json).ok()?;
        (part.kind.is_some() || inline(json).is_some()).then_some(part)
    }
}

/// What a result says, with `mark` where something is shown.
pub(crate) fn in_words(pieces: &[Piece<'_>], mark: impl Fn(&Shown<'_>) -> String) -> String {
    let texts = pieces.iter().map(|piece| match piece {
        Piece::Text(text) => Cow::Borrowed(&**text),
        Piece::Shown(shown) => mark(shown).into(),
    });
    texts.collect::<Vec<_>>().join("\n")
}
