//! The events that a turn writes (SPEC 4).

use forklore_core::{Data, EventType};
use forklore_engine::NewEvent;
use serde::Serialize;
use serde_json::{Value, json};

use crate::Result;

/// An event with this payload. What is null is left out.
pub(crate) fn event(kind: EventType, mut data: Value) -> Result<NewEvent> {
    if let Value::Object(fields) = &mut data {
        fields.retain(|_, value| !value.is_null());
    }
    Ok(NewEvent::new(kind, Data::of(&data)?))
}

/// The same of what holds JSON of others, such as a model's arguments: not a byte of that changes,
/// so that a provider finds its own words in its cache.
pub(super) fn verbatim(kind: EventType, data: &impl Serialize) -> Result<NewEvent> {
    Ok(NewEvent::new(kind, Data::of(data)?))
}

/// A message of the person, or one that is injected in their name.
pub(crate) fn user_message(text: &str, injected: bool) -> Result<NewEvent> {
    let injected = injected.then_some(true);
    event(EventType::USER_MESSAGE, json!({"content": text, "injected": injected}))
}
