//! What a history says, piece by piece, in terms that all providers have.

mod shown;

use std::borrow::Cow;

use forklore_agent::media::{Attached, Room, Takes};
use forklore_agent::model::{ModelName, Request};
use forklore_core::{Content, Data, Part, Role, SessionId};
use serde::Deserialize;
use serde_json::value::RawValue;

pub(crate) use shown::{Piece, Shown, in_words, note};

/// A piece of a message.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Said<'a> {
    /// Which message it belongs to.
    pub(crate) message: usize,
    pub(crate) voice: Voice,
    pub(crate) what: What<'a>,
}

/// Who says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Voice {
    System,
    User,
    Assistant,
    Tool,
}

/// What is said.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum What<'a> {
    Text(Cow<'a, str>),
    /// An image or a document that the person shows.
    Shown(Shown<'a>),
    /// Reasoning of the model that is asked.
    Thought {
        text: &'a str,
        /// What its provider wants back.
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
        said: Vec<Piece<'a>>,
        is_error: bool,
    },
}

/// What goes along with a request, as it is filled from its beginning on.
struct Along<'a> {
    attached: &'a Attached,
    room: Room<'a>,
}

/// All that is said to this model, which takes `takes` beside words. Reasoning of another one is
/// left out (SPEC 15).
pub(crate) fn said<'a>(request: &'a Request, to: &ModelName, takes: &'a Takes) -> Vec<Said<'a>> {
    let mut along = Along { attached: &request.attached, room: Room::of(takes) };
    let mut all: Vec<Said<'a>> = Vec::new();
    for (message, it) in request.messages.iter().enumerate() {
        match &it.content {
            Content::Text(text) => {
                all.push(Said { message, voice: voice(it.role), what: What::Text(text.into()) });
            }
            Content::Parts(parts) => {
                for part in parts {
                    let said = part_said(message, it.role, part, to, &all, &mut along);
                    all.extend(said);
                }
            }
        }
    }
    all
}

fn voice(role: Role) -> Voice {
    match role {
        Role::System => Voice::System,
        Role::User => Voice::User,
        Role::Assistant => Voice::Assistant,
        Role::Tool => Voice::Tool,
    }
}

fn part_said<'a>(
    message: usize,
    role: Role,
    part: &'a Part,
    to: &ModelName,
    before: &[Said<'a>],
    along: &mut Along<'a>,
) -> Option<Said<'a>> {
    let (voice, what) = match part {
        Part::Text { text } => (voice(role), What::Text(text.into())),
        Part::Reasoning { text, provider, model, opaque } => {
            let is_own =
                provider.as_ref() == Some(&to.provider) && model.as_ref() == Some(&to.model);
            if !is_own {
                return None;
            }
            let opaque = opaque.as_ref().and_then(wanted_back);
            (Voice::Assistant, What::Thought { text, opaque })
        }
        Part::ToolCall { id, name, arguments } => {
            (Voice::Assistant, What::Call { id: plain_id(id), name, arguments })
        }
        Part::ToolResult { call_id, name, content, is_error, .. } => {
            let call = plain_id(call_id);
            let name = name.as_deref().unwrap_or_else(|| name_of(&call, before));
            let said = shown::result(along, content);
            (Voice::Tool, What::Result { call, name, said, is_error: *is_error })
        }
        Part::Attachment { r#ref, media_type, name, missing } => {
            let name = name.as_deref().map(Cow::Borrowed);
            let piece = shown::attachment(along, r#ref, media_type, name, *missing);
            shown_by(role, piece)
        }
        Part::Other { value } => shown_by(role, shown::other(along, value.get())),
    };
    Some(Said { message, voice, what })
}

/// What a model or its instructions show is named: no form takes it from them. Beside a result it
/// is the person's.
fn shown_by(role: Role, piece: Piece<'_>) -> (Voice, What<'_>) {
    match (role, piece) {
        (Role::User | Role::Tool, Piece::Shown(shown)) => (Voice::User, What::Shown(shown)),
        (_, Piece::Shown(shown)) => (voice(role), What::Text(note(&shown).into())),
        (Role::Tool, Piece::Text(text)) => (Voice::User, What::Text(text)),
        (_, Piece::Text(text)) => (voice(role), What::Text(text)),
    }
}

/// What the provider wants back with a thought: the field `opaque` of what was stored, or the
/// stored block of a provider's own log.
fn wanted_back(stored: &Data) -> Option<Data> {
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

/// Ids come from other providers too: what one of them refuses is said otherwise, and always the
/// same way.
fn plain_id(id: &str) -> Cow<'_, str> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if (1..=40).contains(&id.len()) && id.bytes().all(plain) {
        return id.into();
    }
    SessionId::derived("call", &[id]).map_or_else(|_| "call".into(), |id| id.to_string().into())
}

/// The tool that was called under this id last.
fn name_of<'a>(call: &str, before: &[Said<'a>]) -> &'a str {
    let found = before.iter().rev().find_map(|said| match &said.what {
        What::Call { id, name, .. } if id == call => Some(*name),
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

    /// What is said to one that takes `takes`.
    fn told(messages: Vec<Message>, takes: &Takes, check: impl Fn(&[Said<'_>])) {
        let request = Request {
            messages,
            attached: Attached::default(),
            shared: 0,
            forks: Vec::new(),
            tools: Vec::new(),
            cache_key: String::new(),
            options: forklore_agent::model::Options::default(),
        };
        check(&said(&request, &me(), takes));
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
            reasoning("openai", "claude"),
            Part::Reasoning { text: "whose?".into(), provider: None, model: None, opaque: None },
        ];
        let messages = vec![Message::parts(Role::Assistant, parts)];
        told(messages, &Takes::default(), |all| {
            let opaque = Some(data(r#"{"signature":"s"}"#));
            let what = What::Thought { text: "hm", opaque };
            assert_eq!(all, [Said { message: 0, voice: Voice::Assistant, what }]);
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
        told(messages, &Takes::default(), |all| {
            let What::Call { id, .. } = &all[0].what else { panic!("{all:?}") };
            assert!(id.starts_with("call-") && id.len() <= 40, "{id}");
            let said = ["a", "[not sent: image]"].map(|text| Piece::Text(text.into())).to_vec();
            let what = What::Result { call: id.clone(), name: "ls", said, is_error: true };
            assert_eq!(all[1], Said { message: 1, voice: Voice::Tool, what });
        });
    }

    #[test]
    fn what_cannot_be_sent_is_said() {
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
        told(messages, &Takes::default(), |all| {
            let texts: Vec<_> = all.iter().map(|said| said.what.clone()).collect();
            let text = |text: &'static str| What::Text(text.into());
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
