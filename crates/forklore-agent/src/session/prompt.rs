//! The prompt of a turn: its text and its attachments.

use std::sync::Arc;

use forklore_core::{EventType, Part};
use forklore_engine::{NewEvent, Pin};
use serde_json::{Value, json};

use crate::Result;
use crate::turn::{event, user_message};

/// The prompt of a turn. A string converts to a prompt without attachments.
#[derive(Clone, Debug, Default)]
pub struct Prompt {
    pub(crate) text: String,
    pub(crate) parts: Vec<Part>,
    /// The pins of the attachments. They protect the attachments from `gc` until the prompt is
    /// stored.
    pinned: Vec<Arc<Pin>>,
}

impl Prompt {
    /// Adds an attachment to the prompt, with its media type and optional name. Store the
    /// attachment with [`put_attachment`](forklore_engine::Engine::put_attachment) first.
    #[must_use]
    pub fn attach(mut self, attachment: Arc<Pin>, media_type: &str, name: Option<&str>) -> Self {
        self.parts.push(Part::Attachment {
            r#ref: attachment.id.to_string(),
            media_type: media_type.to_owned(),
            name: name.map(str::to_owned),
            missing: false,
        });
        self.pinned.push(attachment);
        self
    }

    /// Adds a part of any kind to the prompt (docs/semantics.md, Payloads of forklore's own
    /// events).
    #[must_use]
    pub fn with(mut self, part: Part) -> Self {
        self.parts.push(part);
        self
    }

    /// Returns the text of the prompt.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the parts of the prompt other than its text, in the form in which notifications
    /// report them.
    pub(super) fn announced(&self) -> Vec<Value> {
        self.parts.iter().map(|part| serde_json::to_value(part).unwrap_or_default()).collect()
    }

    pub(crate) fn event(&self, text: &str) -> Result<NewEvent> {
        if self.parts.is_empty() {
            return user_message(text, false);
        }
        let words = (!text.is_empty()).then(|| json!({"type": "text", "text": text}));
        let parts = self.parts.iter().map(stored);
        let content: Vec<Value> = words.into_iter().chain(parts).collect();
        event(EventType::USER_MESSAGE, json!({"content": content}))
    }
}

/// Returns a part of a prompt in the form in which the log stores it.
fn stored(part: &Part) -> Value {
    match part {
        Part::Other { value } => value.read().unwrap_or_default(),
        part => serde_json::to_value(part).unwrap_or_default(),
    }
}

impl From<&str> for Prompt {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<&String> for Prompt {
    fn from(text: &String) -> Self {
        text.clone().into()
    }
}

impl From<String> for Prompt {
    fn from(text: String) -> Self {
        Self { text, ..Self::default() }
    }
}
