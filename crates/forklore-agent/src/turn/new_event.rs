//! Creates the events that a turn writes (docs/semantics.md, Payloads of forklore's own events).

use forklore_core::{Data, EventType};
use forklore_engine::NewEvent;
use serde::Serialize;
use serde_json::{Value, json};

use crate::Result;

/// Returns an event with the payload `data`, from which null fields are removed.
pub(crate) fn event(kind: EventType, mut data: Value) -> Result<NewEvent> {
    if let Value::Object(fields) = &mut data {
        fields.retain(|_, value| !value.is_null());
    }
    Ok(NewEvent::new(kind, Data::of(&data)?))
}

/// Returns an event whose payload contains foreign JSON, such as the arguments that a model wrote.
/// The bytes of this JSON stay unchanged, so that a provider's cache recognizes them.
pub(super) fn verbatim(kind: EventType, data: &impl Serialize) -> Result<NewEvent> {
    Ok(NewEvent::new(kind, Data::of(data)?))
}

/// Returns a user message. `injected` marks a message that the person did not write.
pub(crate) fn user_message(text: &str, injected: bool) -> Result<NewEvent> {
    let injected = injected.then_some(true);
    event(EventType::USER_MESSAGE, json!({"content": text, "injected": injected}))
}
