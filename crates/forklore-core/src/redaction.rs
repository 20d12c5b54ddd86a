//! Redaction: what remains of an event whose payload was taken away (docs/semantics.md, Redaction).

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::call::CallStep;
use crate::data::Data;
use crate::event::Event;
use crate::kind::EventType;
use crate::message::{Content, Message, Part, Role};

/// The beginning of the payload of each redacted event.
pub const REDACTED_PREFIX: &str = "{\"redacted\":{";

/// Maximum size of the reason of a redaction, in bytes.
pub const MAX_REASON_BYTES: usize = 500;

/// Why and when the payload of an event was taken away, and by whom.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Redaction {
    /// The size of the former payload, in bytes.
    pub bytes: u64,
    /// The reason that the caller gave.
    pub reason: String,
    /// When the payload was taken away, by the store's clock.
    pub at: Timestamp,
    /// The principal on whose behalf it was taken away, or else the program that did it, if one of
    /// them is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

/// The payload of a redacted event.
#[derive(Serialize)]
struct Payload<'a> {
    redacted: &'a Redaction,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    call_id: Option<&'a str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    calls: &'a [CallStep],
}

impl Redaction {
    /// Returns the payload that replaces that of `event`. It contains the ids and names of the
    /// event's tool calls, so that calls and results still find each other.
    #[must_use]
    pub fn payload_of(&self, event: &Event) -> Data {
        let empty = Payload { redacted: self, id: None, name: None, call_id: None, calls: &[] };
        let payload = match event.effect.calls.as_slice() {
            [CallStep::Open(call)] if event.kind == EventType::TOOL_CALL => {
                Payload { id: Some(&call.id), name: Some(&call.name), ..empty }
            }
            [CallStep::Close(id)] if event.kind == EventType::TOOL_RESULT => {
                Payload { call_id: Some(id), ..empty }
            }
            calls => Payload { calls, ..empty },
        };
        // Texts, numbers and times can always be written.
        Data::of(&payload).unwrap_or_else(|_| Data::null())
    }

    /// Reads the redaction from the payload of an event. `None` if the event is not redacted.
    #[must_use]
    pub fn of(data: &Data) -> Option<Self> {
        #[derive(Deserialize)]
        struct Redacted {
            redacted: Redaction,
        }
        if !may_be_redacted(data) {
            return None;
        }
        data.read::<Redacted>().ok().map(|payload| payload.redacted)
    }

    /// Returns the text that stands for the former content.
    #[must_use]
    pub fn text(&self) -> String {
        format!("[redacted: {} bytes, {}]", self.bytes, self.reason)
    }
}

/// Checks whether a payload begins as that of a redacted event. This takes no time, so a store can
/// ask it of every event.
#[must_use]
pub fn may_be_redacted(data: &Data) -> bool {
    data.get().starts_with(REDACTED_PREFIX)
}

/// Returns the message of a redacted conversation event: what was redacted and why, and its calls
/// or results without their content. `None` if the event is not redacted, or no conversation event.
#[must_use]
pub fn message(event: &Event) -> Option<Message> {
    let redaction = Redaction::of(&event.data)?;
    let role = Role::of(&event.kind)?;
    let text = redaction.text();
    let part = |step: &CallStep| match step {
        CallStep::Open(call) => Part::ToolCall {
            id: call.id.clone(),
            name: call.name.clone(),
            arguments: Data::from_checked("{}"),
        },
        CallStep::Close(call_id) => Part::ToolResult {
            call_id: call_id.clone(),
            name: None,
            content: Data::of(&text).unwrap_or_else(|_| Data::null()),
            is_error: false,
            synthetic: false,
        },
    };
    let steps = &event.effect.calls;
    if steps.is_empty() {
        return Some(Message { role, content: Content::Text(text) });
    }
    let mut parts = Vec::with_capacity(steps.len() + 1);
    // The results contain the text already.
    if event.kind != EventType::TOOL_RESULT {
        parts.push(Part::Text { text: text.clone() });
    }
    parts.extend(steps.iter().map(part));
    Some(Message { role, content: Content::Parts(parts) })
}

/// Checks whether two events are the same record, of which one or both may have been redacted.
#[must_use]
pub fn is_same_event(a: &Event, b: &Event) -> bool {
    let envelope = |event: &Event| {
        let Event { id, ts, kind, class, dialect, effect, .. } = event;
        (id.clone(), *ts, kind.clone(), *class, dialect.clone(), effect.clone())
    };
    if a.data == b.data {
        return envelope(a) == envelope(b);
    }
    let fits =
        |redaction: &Redaction, other: &Event| redaction.bytes == other.data.get().len() as u64;
    let same = match (Redaction::of(&a.data), Redaction::of(&b.data)) {
        (None, None) => false,
        (Some(of_a), None) => fits(&of_a, b),
        (None, Some(of_b)) => fits(&of_b, a),
        (Some(of_a), Some(of_b)) => of_a.bytes == of_b.bytes,
    };
    same && envelope(a) == envelope(b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::payload;

    fn event(kind: EventType, data: &str) -> Event {
        let data = Data::parse(data).unwrap();
        let (class, effect) = payload::check(&kind, None, &data).unwrap();
        let (id, ts) = ("e".parse().unwrap(), "2026-01-01T00:00:00Z".parse().unwrap());
        Event { id, ts, kind, class, dialect: None, effect, data }
    }

    fn redacted(event: &Event) -> Event {
        let bytes = event.data.get().len() as u64;
        let at = "2026-02-01T00:00:00Z".parse().unwrap();
        let redaction = Redaction { bytes, reason: "a key".into(), at, by: Some("me".into()) };
        Event { data: redaction.payload_of(event), ..event.clone() }
    }

    const REST: &str = r#""reason":"a key","at":"2026-02-01T00:00:00Z","by":"me"}"#;

    #[test]
    fn calls_retain_their_ids_and_names() {
        let call = r#"{"id":"c","name":"sh","arguments":{"cmd":"secret"}}"#;
        let call = redacted(&event(EventType::TOOL_CALL, call));
        let expected = format!(r#"{{"redacted":{{"bytes":51,{REST},"id":"c","name":"sh"}}"#);
        assert_eq!(call.data.get(), expected);
        let result = r#"{"call_id":"c","content":"secret"}"#;
        let result = redacted(&event(EventType::TOOL_RESULT, result));
        let expected = format!(r#"{{"redacted":{{"bytes":34,{REST},"call_id":"c"}}"#);
        assert_eq!(result.data.get(), expected);
        // A reader that does not know of redactions still pairs the two.
        let (_, effect) = payload::check(&EventType::TOOL_CALL, None, &call.data).unwrap();
        assert_eq!(effect, call.effect);
    }

    #[test]
    fn a_message_says_what_is_gone() {
        let user = redacted(&event(EventType::USER_MESSAGE, r#"{"content":"secret"}"#));
        let content = Content::Text("[redacted: 20 bytes, a key]".into());
        assert_eq!(message(&user), Some(Message { role: Role::User, content }));
        let plain = event(EventType::USER_MESSAGE, r#"{"content":"secret"}"#);
        assert_eq!(message(&plain), None);
    }

    #[test]
    fn a_redacted_event_is_the_same_as_before() {
        let one = event(EventType::USER_MESSAGE, r#"{"content":"secret"}"#);
        let other = event(EventType::USER_MESSAGE, r#"{"content":"secrets"}"#);
        assert!(is_same_event(&one, &redacted(&one)) && is_same_event(&redacted(&one), &one));
        assert!(!is_same_event(&one, &other) && !is_same_event(&other, &redacted(&one)));
    }
}
