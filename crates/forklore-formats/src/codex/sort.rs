//! Determines which events Codex's records become. `response_item` records contain the model's
//! input and output. `event_msg` records repeat both for the user interface, so they are not part
//! of the conversation.

use forklore_core::call::{CallStep, Effect, OpenCall};
use forklore_core::{Class, EventType};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::fields::Item;
use crate::author::Author;
use crate::lenient::MessageContent;

/// The event type of a record, its class (what forks do with it), and its effect on calls and
/// turns.
pub(super) type Sorted = (EventType, Class, Effect);

/// Checks whether a line without an envelope (time and type around a payload) may have this type.
/// Codex wrote such lines in early 2025.
pub(super) fn is_item(kind: &str) -> bool {
    matches!(kind, "message" | "reasoning" | "local_shell_call")
        || kind.starts_with("function_call")
        || kind.starts_with("custom_tool_call")
}

/// Returns the event type, class and effect (on calls and turns) of a `response_item` record. Such
/// a record contains input or output of the model.
pub(super) fn item(item: &Item<'_>) -> Sorted {
    let kind = item.kind.get().or_else(|| item.role.get().map(|_| "message"));
    match kind.unwrap_or("response_item") {
        "message" => message(item),
        "reasoning" => own(EventType::REASONING, Effect::default()),
        kind @ ("function_call" | "custom_tool_call" | "tool_search_call" | "local_shell_call") => {
            call(kind, item)
        }
        // The provider ran these calls itself, so no record contains a result.
        "web_search_call" | "image_generation_call" => {
            own(EventType::ASSISTANT_MESSAGE, Effect::default())
        }
        kind if kind.ends_with("_output") => result(kind, item),
        kind => extension(kind, Class::Evidence),
    }
}

/// Returns the event type, class and effect of an `event_msg` record. Such a record informs the
/// user interface. `kind` is its type.
pub(super) fn event(kind: Option<&str>) -> Sorted {
    let kind = kind.unwrap_or("event_msg");
    let is_evidence = matches!(
        kind,
        "user_message"
            | "agent_message"
            | "agent_reasoning"
            | "agent_reasoning_raw_content"
            | "item_started"
            | "item_completed"
            | "turn_aborted"
            | "context_compacted"
            | "thread_rolled_back"
            | "thread_settings_applied"
            | "plan_update"
            | "entered_review_mode"
            | "exited_review_mode"
    ) || ["task_", "turn_", "collab_", "sub_agent_"]
        .iter()
        .any(|start| kind.starts_with(start));
    extension(kind, if is_evidence { Class::Evidence } else { Class::Audit })
}

/// Returns the event type, class and effect of another record. Its type `kind` is neither
/// `response_item` nor `event_msg`.
pub(super) fn other(kind: &str) -> Sorted {
    let is_evidence = matches!(kind, "turn_context" | "world_state" | "retained_context")
        || kind.starts_with("inter_agent_communication");
    extension(kind, if is_evidence { Class::Evidence } else { Class::Audit })
}

pub(super) fn own(kind: EventType, effect: Effect) -> Sorted {
    let class = kind.class();
    (kind, class, effect)
}

pub(super) fn extension(name: &str, class: Class) -> Sorted {
    (EventType::extension(super::NAME, name), class, Effect::default())
}

fn message(item: &Item<'_>) -> Sorted {
    match item.role.get() {
        Some("user") => {
            let effect = Effect { starts_turn: is_real(item), calls: Vec::new() };
            own(EventType::USER_MESSAGE, effect)
        }
        Some("assistant") => own(EventType::ASSISTANT_MESSAGE, Effect::default()),
        Some("system" | "developer") => own(EventType::SYSTEM_MESSAGE, Effect::default()),
        _ => extension("message", Class::Evidence),
    }
}

/// Checks whether the user wrote the message, and not Codex itself. Uses the kinds of the message's
/// parts if Codex recorded them, otherwise the texts.
fn is_real(item: &Item<'_>) -> bool {
    let kinds = &item.about.0.content_item_kinds.0;
    if !kinds.is_empty() {
        return kinds.iter().any(|kind| kind.get().is_some_and(|kind| kind.starts_with("user.")));
    }
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Block {
        text: Option<Author>,
    }
    let Some(content) = item.content.map(RawValue::get) else { return false };
    let content: MessageContent<Block> = serde_json::from_str(content).unwrap_or_default();
    match content {
        MessageContent::Nothing => false,
        MessageContent::Blocks(blocks) if blocks.is_empty() => false,
        // A part without a text is an image of the user.
        content => content.begins_turn(|block| block.text.unwrap_or(Author::Person)),
    }
}

fn call(kind: &str, item: &Item<'_>) -> Sorted {
    let id = item.call_id.get().or_else(|| item.id.get().filter(|_| kind == "local_shell_call"));
    let Some(id) = id else {
        return own(EventType::ASSISTANT_MESSAGE, Effect::default());
    };
    let name = item.name.get().unwrap_or(kind.trim_end_matches("_call"));
    let open = OpenCall { id: id.to_owned(), name: name.to_owned() };
    let effect = Effect { starts_turn: false, calls: vec![CallStep::Open(open)] };
    own(EventType::TOOL_CALL, effect)
}

fn result(kind: &str, item: &Item<'_>) -> Sorted {
    let Some(id) = item.call_id.to_owned() else { return extension(kind, Class::Evidence) };
    let effect = Effect { starts_turn: false, calls: vec![CallStep::Close(id)] };
    own(EventType::TOOL_RESULT, effect)
}
