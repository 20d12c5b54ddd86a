//! Messages: the common view of conversation events, whichever agent wrote them (docs/semantics.md,
//! Payloads of forklore's own events).

use serde::{Deserialize, Serialize};

use crate::data::Data;
use crate::kind::EventType;

/// The author of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Instructions.
    System,
    /// The person, or a reminder injected in their name.
    User,
    /// The model: text, reasoning and calls.
    Assistant,
    /// A tool's result.
    Tool,
}

impl Role {
    /// Returns the role of an event of this type; `None` if it is not a message.
    #[must_use]
    pub fn of(kind: &EventType) -> Option<Self> {
        match kind.as_str() {
            "system_message" => Some(Self::System),
            "user_message" => Some(Self::User),
            "assistant_message" | "reasoning" | "tool_call" => Some(Self::Assistant),
            "tool_result" => Some(Self::Tool),
            _ => None,
        }
    }
}

/// A conversation event as messages are commonly written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Message {
    /// The author.
    pub role: Role,
    /// The content.
    pub content: Content,
}

/// Text, or a list of parts.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Content {
    /// Plain text.
    Text(String),
    /// Parts, in order.
    Parts(Vec<Part>),
}

/// One part of a message.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Part {
    /// Text for people.
    Text {
        /// The text.
        text: String,
    },
    /// The model's reasoning. `opaque` holds what its provider needs to continue it.
    Reasoning {
        /// The readable part.
        text: String,
        /// The provider that wrote it, if recorded.
        #[serde(skip_serializing_if = "Option::is_none")]
        provider: Option<String>,
        /// The model that wrote it, if recorded.
        #[serde(skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// The part as it was stored.
        #[serde(skip_serializing_if = "Option::is_none")]
        opaque: Option<Data>,
    },
    /// A call of a tool.
    ToolCall {
        /// The call's id.
        id: String,
        /// The tool's name.
        name: String,
        /// The arguments, verbatim.
        arguments: Data,
    },
    /// The result of a call.
    ToolResult {
        /// The call's id.
        call_id: String,
        /// The tool's name, if recorded.
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// The result, verbatim.
        content: Data,
        /// Whether the tool failed.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
        /// Whether forklore added it because no result was recorded.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        synthetic: bool,
    },
    /// An attachment: a file that the store has apart from the log.
    Attachment {
        /// `sha256:...`
        r#ref: String,
        /// Its media type.
        media_type: String,
        /// Its name, if recorded.
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// Whether its bytes are missing or damaged (docs/semantics.md, Attachments).
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        missing: bool,
    },
    /// A part of any other kind.
    Other {
        /// The part as it was stored.
        value: Data,
    },
}

impl Message {
    /// Creates a message with plain text.
    #[must_use]
    pub fn text(role: Role, text: impl Into<String>) -> Self {
        Self { role, content: Content::Text(text.into()) }
    }

    /// Creates a message with parts; a single text part becomes plain text.
    #[must_use]
    pub fn parts(role: Role, mut parts: Vec<Part>) -> Self {
        if let [Part::Text { text }] = parts.as_mut_slice() {
            return Self::text(role, std::mem::take(text));
        }
        Self { role, content: Content::Parts(parts) }
    }

    /// Returns the text parts of the message, joined by line breaks.
    #[must_use]
    pub fn plain_text(&self) -> String {
        match &self.content {
            Content::Text(text) => text.clone(),
            Content::Parts(parts) => {
                let texts = parts.iter().filter_map(|part| match part {
                    Part::Text { text } => Some(text.as_str()),
                    _ => None,
                });
                texts.collect::<Vec<_>>().join("\n")
            }
        }
    }

    /// Returns the message's parts; plain text becomes one part.
    #[must_use]
    pub fn to_parts(&self) -> Vec<Part> {
        match &self.content {
            Content::Text(text) => vec![Part::Text { text: text.clone() }],
            Content::Parts(parts) => parts.clone(),
        }
    }
}
