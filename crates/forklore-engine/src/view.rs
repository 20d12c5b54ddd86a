//! Converts stored events to messages. Uses the reader of the event's dialect, or forklore's own.

use std::collections::HashMap;
use std::ops::Range;

use forklore_core::agent_format::Edit;
use forklore_core::{
    Content, Data, Event, Label, Message, Part, Role, SessionId, payload, redaction,
};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{Engine, Result};

impl Engine {
    /// Converts a conversation event to a message. If the event cannot be parsed, the message has
    /// one part that contains the stored payload, so that no event is dropped or refused. The message
    /// of a redacted event says what is gone.
    #[must_use]
    pub fn message(&self, event: &Event) -> Message {
        if let Some(message) = redaction::message(event) {
            return message;
        }
        let read = match &event.dialect {
            Some(name) => {
                let dialect = self.agent_formats().named(name);
                dialect.and_then(|dialect| dialect.view(&event.kind, &event.data.readable()))
            }
            None => payload::message(&event.kind, &event.data).ok().flatten(),
        };
        read.unwrap_or_else(|| Message {
            role: Role::of(&event.kind).unwrap_or(Role::Assistant),
            content: Content::Parts(vec![Part::Other { value: event.data.clone() }]),
        })
    }
}

impl Engine {
    /// Returns the edit that this event makes. An edit replaces or removes an earlier message in
    /// what the model receives. Returns `None` if the event makes no edit.
    pub(crate) fn edit(&self, event: &Event) -> Option<Edit> {
        let dialect = self.agent_formats().named(event.dialect.as_deref()?)?;
        dialect.edit(&event.kind, &event.data)
    }
}

/// Parses the range of conversation indexes that a compaction in forklore's own form covers.
/// Returns `None` if the payload does not state the range.
pub(crate) fn compacted_range(data: &Data) -> Option<Range<u64>> {
    #[derive(Deserialize)]
    struct Covers {
        from_index: u64,
        to_index: u64,
    }
    let covers: Covers = data.read().ok()?;
    Some(covers.from_index..covers.to_index)
}

/// Parses the messages of a compaction in forklore's own form. For the model, they replace the
/// range of messages that the compaction covers.
pub(crate) fn compaction_messages(data: &Data) -> Vec<Message> {
    #[derive(Deserialize)]
    struct Instead<'a> {
        #[serde(borrow, default)]
        content: Option<&'a RawValue>,
        #[serde(default)]
        messages: Vec<Spoken>,
    }
    #[derive(Deserialize)]
    struct Spoken {
        role: String,
        content: Box<RawValue>,
    }
    let Ok(instead) = data.read::<Instead<'_>>() else { return Vec::new() };
    if instead.messages.is_empty() {
        let content = instead.content.map(|raw| payload::content(Some(raw)));
        return content
            .into_iter()
            .flatten()
            .map(|content| Message { role: Role::User, content })
            .collect();
    }
    let role = |name: &str| match name {
        "system" => Role::System,
        "assistant" => Role::Assistant,
        "tool" => Role::Tool,
        _ => Role::User,
    };
    instead
        .messages
        .iter()
        .filter_map(|m| {
            let content = payload::content(Some(&m.content)).ok()?;
            Some(Message { role: role(&m.role), content })
        })
        .collect()
}

/// Caches the labels of sessions, so that each header is read only once.
#[derive(Default)]
pub(crate) struct Labels {
    labels: HashMap<SessionId, Option<Label>>,
}

impl Labels {
    /// Returns the current label of a session, or `None` if the store has no readable header of the
    /// session.
    pub(crate) fn get(&mut self, engine: &Engine, id: &SessionId) -> Result<Option<Label>> {
        if let Some(label) = self.labels.get(id) {
            return Ok(label.clone());
        }
        let label = engine.other_session(id)?.header().map(|header| header.label);
        self.labels.insert(id.clone(), label.clone());
        Ok(label)
    }
}
