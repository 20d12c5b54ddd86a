//! Converts Pi's records to messages.

use std::collections::BTreeMap;

use forklore_core::agent_format::Edit;
use forklore_core::{Content, Data, EventType, Message, Part, Role};
use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Deserialize)]
struct RecordFields<'a> {
    #[serde(borrow, default)]
    message: Option<&'a RawValue>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(default)]
    summary: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MessageFields<'a> {
    role: String,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(default)]
    sections: BTreeMap<String, Option<String>>,
    #[serde(default)]
    provider: Option<String>,
    #[serde(default)]
    model: Option<String>,
    #[serde(default)]
    tool_call_id: Option<String>,
    #[serde(default)]
    tool_name: Option<String>,
    #[serde(default)]
    is_error: Option<bool>,
    #[serde(default)]
    command: Option<String>,
    #[serde(default)]
    output: Option<String>,
}

#[derive(Deserialize)]
struct ContentBlock<'a> {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    thinking: Option<String>,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    name: Option<String>,
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
}

pub(super) fn message(kind: &EventType, data: &Data) -> Option<Message> {
    let shown: RecordFields<'_> = data.read().ok()?;
    match kind.as_str() {
        "history_compaction" => Some(summary("Summary of the conversation so far", &shown)),
        "branch_summary" => Some(summary("Summary of a branch that was left", &shown)),
        "system_message" | "user_message" | "assistant_message" | "tool_result" => {
            match shown.message {
                Some(message) => message_of(&serde_json::from_str(message.get()).ok()?),
                None => content(Role::User, shown.content, &Author::default()),
            }
        }
        _ => None,
    }
}

/// Returns the messages that replace the earlier history at a compaction: its summary, and the
/// retained messages that its record contains. The record contains none if it names the first entry
/// that the compaction retains.
pub(super) fn instead(data: &Data) -> Vec<Message> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Compaction<'a> {
        #[serde(rename = "firstKeptEntryId")]
        first_retained: Option<String>,
        #[serde(borrow, default)]
        retained_tail: Vec<&'a RawValue>,
    }
    let summary = message(&EventType::HISTORY_COMPACTION, data);
    let compaction = data.read::<Compaction<'_>>().ok();
    let compaction = compaction.filter(|it| it.first_retained.is_none());
    let retained = compaction.map(|it| it.retained_tail).unwrap_or_default();
    let retained = retained.into_iter().filter_map(|raw| {
        let fields: MessageFields<'_> = serde_json::from_str(raw.get()).ok()?;
        message_of(&fields)
    });
    summary.into_iter().chain(retained).collect()
}

/// Parses a record that changes an earlier record. The change replaces the content of the earlier
/// record, or removes the earlier record. Returns `None` if the record does not have this form.
pub(super) fn edit(data: &Data) -> Option<Edit> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Edited<'a> {
        target_id: String,
        #[serde(borrow, default)]
        replacement: Option<Replacement<'a>>,
    }
    #[derive(Deserialize)]
    struct Replacement<'a> {
        #[serde(borrow, default)]
        content: Option<&'a RawValue>,
    }
    let data = data.readable();
    let edited: Edited<'_> = data.read().ok()?;
    let instead = match edited.replacement {
        Some(message) => Some(content(Role::User, message.content, &Author::default())?.content),
        None => None,
    };
    Some(Edit { target: edited.target_id, instead })
}

fn summary(what: &str, shown: &RecordFields<'_>) -> Message {
    let text = shown.summary.as_deref().unwrap_or_default();
    Message::text(Role::User, format!("[{what}]\n{text}"))
}

#[derive(Default)]
struct Author {
    provider: Option<String>,
    model: Option<String>,
}

fn message_of(message: &MessageFields<'_>) -> Option<Message> {
    let nobody = Author::default();
    match message.role.as_str() {
        "system" => Some(Message::text(Role::System, system_text(message))),
        "assistant" => {
            let author =
                Author { provider: message.provider.clone(), model: message.model.clone() };
            content(Role::Assistant, message.content, &author)
        }
        "toolResult" => {
            let result = Part::ToolResult {
                call_id: message.tool_call_id.clone()?,
                name: message.tool_name.clone(),
                content: Data::from_checked(message.content.map_or("\"\"", RawValue::get)),
                is_error: message.is_error == Some(true),
                synthetic: false,
            };
            Some(Message { role: Role::Tool, content: Content::Parts(vec![result]) })
        }
        "bashExecution" => {
            let command = message.command.as_deref().unwrap_or_default();
            let output = message.output.as_deref().unwrap_or_default();
            Some(Message::text(Role::User, format!("$ {command}\n{output}")))
        }
        _ => content(Role::User, message.content, &nobody),
    }
}

/// Returns the text of a system message: its content, then its sections in alphabetical order of
/// their names.
fn system_text(message: &MessageFields<'_>) -> String {
    let content: Option<String> =
        message.content.and_then(|content| serde_json::from_str(content.get()).ok());
    let texts = content.into_iter().chain(message.sections.values().flatten().cloned());
    texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n")
}

fn content(role: Role, raw: Option<&RawValue>, author: &Author) -> Option<Message> {
    let raw = raw.map_or("\"\"", RawValue::get);
    if let Ok(text) = serde_json::from_str::<String>(raw) {
        return Some(Message::text(role, text));
    }
    let blocks: Vec<&RawValue> = serde_json::from_str(raw).ok()?;
    Some(Message::parts(role, blocks.into_iter().map(|block| part(block, author)).collect()))
}

fn part(raw: &RawValue, author: &Author) -> Part {
    let other = || Part::Other { value: Data::from_checked(raw.get()) };
    let Ok(block) = serde_json::from_str::<ContentBlock<'_>>(raw.get()) else {
        return other();
    };
    match block {
        ContentBlock { kind, text: Some(text), .. } if kind == "text" => Part::Text { text },
        ContentBlock { kind, thinking, .. } if kind == "thinking" => Part::Reasoning {
            text: thinking.unwrap_or_default(),
            provider: author.provider.clone(),
            model: author.model.clone(),
            opaque: Some(Data::from_checked(raw.get())),
        },
        ContentBlock { kind, id: Some(id), name, arguments, .. } if kind == "toolCall" => {
            Part::ToolCall {
                id,
                name: name.unwrap_or_default(),
                arguments: Data::from_checked(arguments.map_or("{}", RawValue::get)),
            }
        }
        _ => other(),
    }
}
