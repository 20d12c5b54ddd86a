//! Messages: the common view of conversation events, whichever agent wrote them (docs/semantics.md,
//! Payloads of forklore's own events).

use serde::{Deserialize, Serialize};

use crate::data::Data;
use crate::kind::EventType;

/// The author of a message: system, user, assistant or tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Instructions to the model.
    System,
    /// The user. Reminders that a program injects in the user's name also have this role.
    User,
    /// The model: its text, reasoning and tool calls.
    Assistant,
    /// The result of a tool call.
    Tool,
}

impl Role {
    /// Returns the role of events of this type; `None` if such events are not messages.
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

    /// Returns the name by which JSON refers to the role, such as `user`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }
}

/// A conversation event in the common form: a role and a content.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Message {
    /// The author of the message.
    pub role: Role,
    /// The content: plain text or a list of parts.
    pub content: Content,
}

/// The content of a message: plain text or a list of parts.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Content {
    /// Plain text.
    Text(String),
    /// A list of parts, in order.
    Parts(Vec<Part>),
}

/// One part of a message.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Part {
    /// Plain text.
    Text {
        /// The text of the part.
        text: String,
    },
    /// Reasoning of the model. Its field `opaque` contains what the provider needs to continue the
    /// reasoning.
    Reasoning {
        /// The readable text of the model's reasoning; empty if the provider gave none.
        text: String,
        /// The provider of the model, if recorded.
        #[serde(skip_serializing_if = "Option::is_none")]
        provider: Option<String>,
        /// The model that wrote the reasoning, if recorded.
        #[serde(skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// The whole part of the message as stored, verbatim, with all fields that the provider
        /// needs.
        #[serde(skip_serializing_if = "Option::is_none")]
        opaque: Option<Data>,
    },
    /// A tool call.
    ToolCall {
        /// The call's id.
        id: String,
        /// The tool's name.
        name: String,
        /// The arguments of the call, verbatim.
        arguments: Data,
    },
    /// The result of a tool call.
    ToolResult {
        /// The id of the call to which this result belongs.
        call_id: String,
        /// The tool's name, if recorded.
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// The result, verbatim.
        content: Data,
        /// Whether the tool failed.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
        /// Whether forklore added this result because the call had no recorded result.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        synthetic: bool,
    },
    /// A reference to an attachment: bytes that the store contains outside the log.
    Attachment {
        /// The name of the attachment: `sha256:` and 64 hex digits.
        r#ref: String,
        /// The attachment's media type, such as `image/png`.
        media_type: String,
        /// The attachment's file name, if recorded.
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// Whether the attachment's bytes are missing from the store or damaged (docs/semantics.md,
        /// Attachments).
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        missing: bool,
    },
    /// A part of a kind that is not one of the other variants of this enum, or a malformed part.
    Other {
        /// The whole part of the message as stored, verbatim.
        value: Data,
    },
}

impl Message {
    /// Creates a message with plain text.
    #[must_use]
    pub fn text(role: Role, text: impl Into<String>) -> Self {
        Self { role, content: Content::Text(text.into()) }
    }

    /// Creates a message with parts. A list with exactly one part, of type text, becomes plain
    /// text.
    #[must_use]
    pub fn parts(role: Role, mut parts: Vec<Part>) -> Self {
        if let [Part::Text { text }] = parts.as_mut_slice() {
            return Self::text(role, std::mem::take(text));
        }
        Self { role, content: Content::Parts(parts) }
    }

    /// Returns the plain text of the message, or its text parts joined by line breaks.
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

    /// Returns the message's parts. Plain text becomes a single text part.
    #[must_use]
    pub fn to_parts(&self) -> Vec<Part> {
        match &self.content {
            Content::Text(text) => vec![Part::Text { text: text.clone() }],
            Content::Parts(parts) => parts.clone(),
        }
    }
}
