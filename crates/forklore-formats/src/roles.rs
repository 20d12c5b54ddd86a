//! The words of OpenAI's API, which other agents' messages have too.

use forklore_core::EventType;
use forklore_core::call::{CallStep, OpenCall};

use crate::lenient::Text;

/// What a message of this role is.
pub(crate) fn kind_of(role: &str) -> Option<EventType> {
    match role {
        "system" | "developer" => Some(EventType::SYSTEM_MESSAGE),
        "user" => Some(EventType::USER_MESSAGE),
        "assistant" => Some(EventType::ASSISTANT_MESSAGE),
        "tool" | "function" => Some(EventType::TOOL_RESULT),
        _ => None,
    }
}

/// The step of a call that has an id; a name may be missing.
pub(crate) fn opened(id: &Text<'_>, name: &Text<'_>) -> Option<CallStep> {
    let name = name.to_owned().unwrap_or_default();
    Some(CallStep::Open(OpenCall { id: id.to_owned()?, name }))
}
