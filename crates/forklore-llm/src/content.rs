//! Converts the history of a request to segments, a form that all providers share.

mod media;

use std::borrow::Cow;

use forklore_agent::media::{Allowance, Attached, Capabilities};
use forklore_agent::model::{ModelName, Request};
use forklore_core::{Content, Data, Part, Role, SessionId};
use serde::Deserialize;
use serde_json::value::RawValue;

pub(crate) use media::{ContentPart, InlineMedia, as_text, note};

/// A part of a message, in the form that all providers share.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Segment<'a> {
    /// The index of the message in the request, from 0.
    pub(crate) message: usize,
    pub(crate) speaker: Speaker,
    pub(crate) kind: SegmentKind<'a>,
}

/// The author of a segment (a part of a message).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Speaker {
    System,
    User,
    Assistant,
    Tool,
}

/// The content of a segment.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SegmentKind<'a> {
    Text(Cow<'a, str>),
    /// An image or a document from the user.
    Media(InlineMedia<'a>),
    /// Reasoning by the same model that receives the request.
    Reasoning {
        text: &'a str,
        /// Data, such as a signature, that the provider requires with the reasoning. `None` if
        /// there is none.
        opaque: Option<Data>,
    },
    Call {
        id: Cow<'a, str>,
        name: &'a str,
        arguments: &'a Data,
    },
    Result {
        call: Cow<'a, str>,
        name: &'a str,
        content: Vec<ContentPart<'a>>,
        is_error: bool,
    },
}

/// The attachments of a request, and the remaining limits for media in the request.
struct MediaContext<'a> {
    attached: &'a Attached,
    allowance: Allowance<'a>,
}

/// Converts the messages of `request` to segments for the model `to`. `takes` are the media that
/// the model accepts. Omits reasoning by other models (docs/semantics.md, Model requests).
pub(crate) fn segments<'a>(
    request: &'a Request,
    to: &ModelName,
    takes: &'a Capabilities,
) -> Vec<Segment<'a>> {
    let mut context = MediaContext { attached: &request.attached, allowance: Allowance::of(takes) };
    let mut all: Vec<Segment<'a>> = Vec::new();
    for (message, it) in request.messages.iter().enumerate() {
        match &it.content {
            Content::Text(text) => {
                all.push(Segment {
                    message,
                    speaker: speaker(it.role),
                    kind: SegmentKind::Text(text.into()),
                });
            }
            Content::Parts(parts) => {
                for part in parts {
                    let segment = part_segment(message, it.role, part, to, &all, &mut context);
                    all.extend(segment);
                }
            }
        }
    }
    all
}

fn speaker(role: Role) -> Speaker {
    match role {
        Role::System => Speaker::System,
        Role::User => Speaker::User,
        Role::Assistant => Speaker::Assistant,
        Role::Tool => Speaker::Tool,
    }
}

fn part_segment<'a>(
    message: usize,
    role: Role,
    part: &'a Part,
    to: &ModelName,
    earlier: &[Segment<'a>],
    context: &mut MediaContext<'a>,
) -> Option<Segment<'a>> {
    let (speaker, kind) = match part {
        Part::Text { text } => (speaker(role), SegmentKind::Text(text.into())),
        Part::Reasoning { text, provider, model, opaque } => {
            // A provider refuses the signature of another model, also one of the same family.
            let is_own =
                provider.as_ref() == Some(&to.provider) && model.as_ref() == Some(&to.model);
            if !is_own {
                return None;
            }
            let opaque = opaque.as_ref().and_then(provider_data);
            (Speaker::Assistant, SegmentKind::Reasoning { text, opaque })
        }
        Part::ToolCall { id, name, arguments } => {
            (Speaker::Assistant, SegmentKind::Call { id: plain_id(id), name, arguments })
        }
        Part::ToolResult { call_id, name, content, is_error, .. } => {
            let call = plain_id(call_id);
            let name = name.as_deref().unwrap_or_else(|| name_of(&call, earlier));
            let content = media::result(context, content);
            (Speaker::Tool, SegmentKind::Result { call, name, content, is_error: *is_error })
        }
        Part::Attachment { r#ref, media_type, name, missing } => {
            let name = name.as_deref().map(Cow::Borrowed);
            let piece = media::attachment(context, r#ref, media_type, name, *missing);
            media_segment(role, piece)
        }
        Part::Other { value } => media_segment(role, media::other(context, value.get())),
    };
    Some(Segment { message, speaker, kind })
}

/// Converts a content part to a segment, and returns the segment's author and content. Media from
/// the assistant or in the system instructions become a note, because no provider accepts them
/// there. Media and text that a tool message contains outside a tool result become content of the
/// user, because the user attached them.
fn media_segment(role: Role, piece: ContentPart<'_>) -> (Speaker, SegmentKind<'_>) {
    match (role, piece) {
        (Role::User | Role::Tool, ContentPart::Media(shown)) => {
            (Speaker::User, SegmentKind::Media(shown))
        }
        (_, ContentPart::Media(shown)) => (speaker(role), SegmentKind::Text(note(&shown).into())),
        (Role::Tool, ContentPart::Text(text)) => (Speaker::User, SegmentKind::Text(text)),
        (_, ContentPart::Text(text)) => (speaker(role), SegmentKind::Text(text)),
    }
}

/// Returns the data that a provider requires with its reasoning. This is the field `opaque` of the
/// stored part. If the part is a block from an agent's file in Anthropic's format, returns the
/// whole block. Returns `None` if there is no such data.
fn provider_data(stored: &Data) -> Option<Data> {
    #[derive(Deserialize)]
    struct Stored<'a> {
        #[serde(default, rename = "type")]
        kind: Option<Cow<'a, str>>,
        #[serde(default, borrow)]
        opaque: Option<&'a RawValue>,
    }
    let readable = stored.readable();
    let fields: Stored<'_> = readable.read().ok()?;
    match (fields.opaque, fields.kind.as_deref()) {
        (Some(opaque), _) if opaque.get() != "null" => Some(Data::from_checked(opaque.get())),
        (_, Some("thinking" | "redacted_thinking")) => Some(readable.clone().into_owned()),
        _ => None,
    }
}

/// Returns the id of a tool call if every provider accepts it. Otherwise returns a replacement that
/// is derived from the id. The history may contain ids of other providers, and the same id always
/// gets the same replacement.
fn plain_id(id: &str) -> Cow<'_, str> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if (1..=40).contains(&id.len()) && id.bytes().all(plain) {
        return id.into();
    }
    SessionId::derived("call", &[id]).map_or_else(|_| "call".into(), |id| id.to_string().into())
}

/// Returns the tool's name in the last call in `earlier` with the id `call`. Returns `tool` if
/// there is no such call.
fn name_of<'a>(call: &str, earlier: &[Segment<'a>]) -> &'a str {
    let found = earlier.iter().rev().find_map(|segment| match &segment.kind {
        SegmentKind::Call { id, name, .. } if id == call => Some(*name),
        _ => None,
    });
    found.unwrap_or("tool")
}

#[cfg(test)]
mod tests {
    use forklore_core::Message;

    use super::*;

    fn me() -> ModelName {
        ModelName { provider: "anthropic".into(), model: "claude".into() }
    }

    fn data(text: &str) -> Data {
        Data::parse(text).unwrap()
    }

    /// Converts `messages` to segments for a model that accepts the media in `takes`. Checks the
    /// segments with `check`.
    fn check_segments(
        messages: Vec<Message>,
        takes: &Capabilities,
        check: impl Fn(&[Segment<'_>]),
    ) {
        let request = Request {
            messages,
            attached: Attached::default(),
            shared: 0,
            forks: Vec::new(),
            tools: Vec::new(),
            cache_key: String::new(),
            options: forklore_agent::model::Options::default(),
        };
        check(&segments(&request, &me(), takes));
    }

    fn reasoning(provider: &str, model: &str) -> Part {
        let opaque = r#"{"content":"hm","opaque":{"signature":"s"}}"#;
        Part::Reasoning {
            text: "hm".into(),
            provider: Some(provider.into()),
            model: Some(model.into()),
            opaque: Some(data(opaque)),
        }
    }

    #[test]
    fn reasoning_goes_back_to_its_writer_only() {
        let parts = vec![
            reasoning("anthropic", "claude"),
            reasoning("anthropic", "other"),
            reasoning("anthropic", "claude-next"),
            reasoning("openai", "claude"),
            Part::Reasoning { text: "whose?".into(), provider: None, model: None, opaque: None },
        ];
        let messages = vec![Message::parts(Role::Assistant, parts)];
        check_segments(messages, &Capabilities::default(), |all| {
            let opaque = Some(data(r#"{"signature":"s"}"#));
            let kind = SegmentKind::Reasoning { text: "hm", opaque };
            assert_eq!(all, [Segment { message: 0, speaker: Speaker::Assistant, kind }]);
        });
    }

    #[test]
    fn a_result_has_the_name_of_its_call_and_an_id_that_all_accept() {
        let long = "fc_1|call.2";
        let arguments = data("{}");
        let call = Part::ToolCall { id: long.into(), name: "ls".into(), arguments };
        let result = Part::ToolResult {
            call_id: long.into(),
            name: None,
            content: data(r#"[{"type":"text","text":"a"},{"type":"image","data":"..."}]"#),
            is_error: true,
            synthetic: false,
        };
        let messages = vec![
            Message::parts(Role::Assistant, vec![call]),
            Message::parts(Role::Tool, vec![result]),
        ];
        check_segments(messages, &Capabilities::default(), |all| {
            let SegmentKind::Call { id, .. } = &all[0].kind else { panic!("{all:?}") };
            assert!(id.starts_with("call-") && id.len() <= 40, "{id}");
            let content =
                ["a", "[not sent: image]"].map(|text| ContentPart::Text(text.into())).to_vec();
            let kind =
                SegmentKind::Result { call: id.clone(), name: "ls", content, is_error: true };
            assert_eq!(all[1], Segment { message: 1, speaker: Speaker::Tool, kind });
        });
    }

    #[test]
    fn what_cannot_be_sent_is_named() {
        let parts = vec![
            Part::Attachment {
                r#ref: "sha256:1".into(),
                media_type: "image/png".into(),
                name: None,
                missing: false,
            },
            Part::Other { value: data(r#"{"type":"video","url":"x"}"#) },
            Part::Other { value: data("7") },
        ];
        let messages = vec![Message::parts(Role::User, parts)];
        check_segments(messages, &Capabilities::default(), |all| {
            let texts: Vec<_> = all.iter().map(|segment| segment.kind.clone()).collect();
            let text = |text: &'static str| SegmentKind::Text(text.into());
            assert_eq!(
                texts,
                [
                    text("[attachment, not sent: sha256:1 (image/png)]"),
                    text("[not sent: video]"),
                    text("[not sent: a part of no known kind]"),
                ]
            );
        });
    }
}
