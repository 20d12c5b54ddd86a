//! Deserialization of [`Content`] and [`Part`].
//!
//! Serde's derived deserializer for tagged enums buffers its input and thereby changes the JSON
//! text. Payloads must remain verbatim ([`Data`]), so these implementations do not buffer.

use std::fmt;

use serde::de::value::SeqAccessDeserializer;
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::data::Data;
use crate::message::{Content, Part};

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextOrParts;

        impl<'de> Visitor<'de> for TextOrParts {
            type Value = Content;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text or a list of parts")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Content, E> {
                Ok(Content::Text(text.to_owned()))
            }

            fn visit_string<E: Error>(self, text: String) -> Result<Content, E> {
                Ok(Content::Text(text))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, parts: A) -> Result<Content, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(parts)).map(Content::Parts)
            }
        }

        deserializer.deserialize_any(TextOrParts)
    }
}

/// One struct with the fields of all types of message parts. A field that the part does not contain
/// is `None` or false.
#[derive(Deserialize)]
struct Fields {
    #[serde(rename = "type")]
    kind: String,
    text: Option<String>,
    provider: Option<String>,
    model: Option<String>,
    opaque: Option<Data>,
    id: Option<String>,
    call_id: Option<String>,
    name: Option<String>,
    #[serde(default, deserialize_with = "present")]
    arguments: Option<Data>,
    #[serde(default, deserialize_with = "present")]
    content: Option<Data>,
    #[serde(default)]
    is_error: bool,
    #[serde(default)]
    synthetic: bool,
    r#ref: Option<String>,
    media_type: Option<String>,
    #[serde(default)]
    missing: bool,
    #[serde(default, deserialize_with = "present")]
    value: Option<Data>,
}

/// Deserializes the value of a field to `Some`, even if the value is `null`. Serde calls this
/// function only for fields that the JSON contains.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Data>, D::Error> {
    Data::deserialize(deserializer).map(Some)
}

fn need<T, E: Error>(field: Option<T>, name: &'static str) -> Result<T, E> {
    field.ok_or_else(|| E::missing_field(name))
}

impl<'de> Deserialize<'de> for Part {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        const KINDS: &[&str] =
            &["text", "reasoning", "tool_call", "tool_result", "attachment", "other"];
        let part = Fields::deserialize(deserializer)?;
        Ok(match part.kind.as_str() {
            "text" => Self::Text { text: need(part.text, "text")? },
            "reasoning" => Self::Reasoning {
                text: need(part.text, "text")?,
                provider: part.provider,
                model: part.model,
                opaque: part.opaque,
            },
            "tool_call" => Self::ToolCall {
                id: need(part.id, "id")?,
                name: need(part.name, "name")?,
                arguments: need(part.arguments, "arguments")?,
            },
            "tool_result" => Self::ToolResult {
                call_id: need(part.call_id, "call_id")?,
                name: part.name,
                content: need(part.content, "content")?,
                is_error: part.is_error,
                synthetic: part.synthetic,
            },
            "attachment" => Self::Attachment {
                r#ref: need(part.r#ref, "ref")?,
                media_type: need(part.media_type, "media_type")?,
                name: part.name,
                missing: part.missing,
            },
            "other" => Self::Other { value: need(part.value, "value")? },
            other => return Err(D::Error::unknown_variant(other, KINDS)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Message;

    #[test]
    fn messages_come_back_with_every_payload_as_written() {
        let text = concat!(
            r#"{"role":"assistant","content":[{"type":"text","text":"a"},"#,
            r#"{"type":"reasoning","text":"b","provider":"p","opaque":{"x":1.50}},"#,
            r#"{"type":"tool_call","id":"c","name":"ls","arguments":{"n":1e+05}},"#,
            r#"{"type":"tool_result","call_id":"c","content":null,"is_error":true},"#,
            r#"{"type":"attachment","ref":"sha256:00","media_type":"image/png"},"#,
            r#"{"type":"other","value":[1.0]}]}"#
        );
        let message: Message = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&message).unwrap(), text);
        let plain = r#"{"role":"user","content":"hello"}"#;
        let message: Message = serde_json::from_str(plain).unwrap();
        assert_eq!(serde_json::to_string(&message).unwrap(), plain);
    }

    #[test]
    fn a_part_that_lacks_a_field_names_it() {
        let read = |text: &str| serde_json::from_str::<Part>(text).unwrap_err().to_string();
        assert!(read(r#"{"type":"text"}"#).contains("missing field `text`"));
        assert!(read(r#"{"type":"song"}"#).contains("unknown variant `song`"));
    }
}
