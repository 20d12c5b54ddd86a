//! Converts Pixir's events to messages.

use forklore_core::{Data, EventType, Message, Part, Role};
use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Deserialize)]
struct RecordFields<'a> {
    #[serde(borrow)]
    data: EventData<'a>,
}

#[derive(Deserialize)]
struct EventData<'a> {
    #[serde(default)]
    text: Option<String>,
    #[serde(borrow, default)]
    resources: Vec<&'a RawValue>,
    #[serde(borrow, default)]
    item: Option<&'a RawValue>,
    #[serde(default)]
    model: Option<String>,
    #[serde(default)]
    dialect: Option<String>,
    #[serde(default)]
    call_id: Option<String>,
    #[serde(default)]
    name: Option<String>,
    #[serde(borrow, default)]
    args: Option<&'a RawValue>,
    #[serde(default)]
    ok: Option<bool>,
    #[serde(borrow, default)]
    output: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
    #[serde(default)]
    summary: Option<String>,
}

pub(super) fn message(kind: &EventType, data: &Data) -> Option<Message> {
    let event = data.read::<RecordFields<'_>>().ok()?.data;
    match kind.as_str() {
        "user_message" => Some(user(event)),
        "assistant_message" => Some(Message::text(Role::Assistant, event.text.unwrap_or_default())),
        "reasoning" => Some(Message::parts(Role::Assistant, vec![reasoning(event)?])),
        "tool_call" => {
            let arguments = Data::from_checked(event.args.map_or("{}", RawValue::get));
            let (id, name) = (event.call_id?, event.name.unwrap_or_default());
            Some(Message::parts(Role::Assistant, vec![Part::ToolCall { id, name, arguments }]))
        }
        "tool_result" => {
            let content = event.output.or(event.error).map_or("\"\"", RawValue::get);
            let result = Part::ToolResult {
                call_id: event.call_id?,
                name: None,
                content: Data::from_checked(content),
                is_error: event.ok == Some(false),
                synthetic: false,
            };
            Some(Message::parts(Role::Tool, vec![result]))
        }
        "history_compaction" => Some(summary("Summary of the conversation so far", event)),
        "branch_summary" => Some(summary("Summary of a branch that was left", event)),
        _ => None,
    }
}

/// Converts a message of the user in Pixir's form. The field `resources` contains its attachments,
/// each with a description and the hash of its bytes.
fn user(event: EventData<'_>) -> Message {
    let text = event.text.unwrap_or_default();
    if event.resources.is_empty() {
        return Message::text(Role::User, text);
    }
    let attached = event.resources.into_iter();
    let attached = attached.map(|raw| Part::Other { value: Data::from_checked(raw.get()) });
    Message::parts(Role::User, std::iter::once(Part::Text { text }).chain(attached).collect())
}

/// Converts a reasoning event of Pixir to a message part. Its text is the readable text or the
/// summary, if there is one. Its `opaque` is the data that the provider requires in later requests.
fn reasoning(event: EventData<'_>) -> Option<Part> {
    #[derive(Deserialize)]
    struct Item {
        #[serde(default)]
        summary: Vec<Summed>,
        #[serde(default)]
        thinking: Option<String>,
    }
    #[derive(Deserialize)]
    struct Summed {
        #[serde(default)]
        text: String,
    }
    let raw = event.item?.get();
    let text = serde_json::from_str::<Item>(raw).ok().map(|item| {
        let summed: Vec<_> = item.summary.into_iter().map(|summed| summed.text).collect();
        item.thinking.unwrap_or_else(|| summed.join("\n"))
    });
    Some(Part::Reasoning {
        text: text.unwrap_or_default(),
        provider: event.dialect.or_else(|| Some("openai".into())),
        model: event.model,
        opaque: Some(Data::from_checked(raw)),
    })
}

fn summary(what: &str, event: EventData<'_>) -> Message {
    let summary = event.summary.unwrap_or_default();
    Message::text(Role::User, format!("[{what}]\n{summary}"))
}

/// Returns the number of the last event that a compaction summarises. An event's number is its
/// field `seq` in Pixir's log. Returns `None` if the compaction does not name that event.
pub(super) fn range_end(data: &Data) -> Option<u64> {
    #[derive(Deserialize)]
    struct Compaction {
        data: Ranged,
    }
    #[derive(Deserialize)]
    struct Ranged {
        range: Range,
    }
    #[derive(Deserialize)]
    struct Range {
        to_seq: u64,
    }
    data.read::<Compaction>().ok().map(|compaction| compaction.data.range.to_seq)
}

/// Returns the number of an event in its Pixir log, the field `seq`.
pub(super) fn number(data: &Data) -> Option<u64> {
    #[derive(Deserialize)]
    struct Numbered {
        seq: u64,
    }
    data.read::<Numbered>().ok().map(|numbered| numbered.seq)
}

/// Returns the id of the session in whose log an event has its number, the field `session_id`.
pub(super) fn session(data: &Data) -> Option<String> {
    #[derive(Deserialize)]
    struct Numbered {
        session_id: String,
    }
    data.read::<Numbered>().ok().map(|numbered| numbered.session_id)
}
