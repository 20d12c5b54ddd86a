//! The roles of messages in OpenAI's API, which other agents use too.

use forklore_core::EventType;
use forklore_core::call::{CallStep, OpenCall};

use crate::lenient::Text;

/// Returns the event type of a message whose author has this role. Returns `None` for an unknown
/// role.
pub(crate) fn kind_of(role: &str) -> Option<EventType> {
    match role {
        "system" | "developer" => Some(EventType::SYSTEM_MESSAGE),
        "user" => Some(EventType::USER_MESSAGE),
        "assistant" => Some(EventType::ASSISTANT_MESSAGE),
        "tool" | "function" => Some(EventType::TOOL_RESULT),
        _ => None,
    }
}

/// Returns a step that records the start of a tool call. Returns `None` if `id` is missing. A
/// missing name becomes an empty one.
pub(crate) fn opened(id: &Text<'_>, name: &Text<'_>) -> Option<CallStep> {
    let name = name.to_owned().unwrap_or_default();
    Some(CallStep::Open(OpenCall { id: id.to_owned()?, name }))
}
