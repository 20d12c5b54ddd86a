//! Converts opencode's messages to the common form.

use forklore_core::{Data, EventType, Message, Part, Role};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::journal;

#[derive(Deserialize)]
struct RecordFields<'a> {
    #[serde(default)]
    info: Info,
    #[serde(borrow, default)]
    parts: Vec<&'a RawValue>,
    /// The message, in the form of opencode's second version.
    #[serde(borrow, default)]
    message: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
struct Info {
    #[serde(default, rename = "providerID")]
    provider: Option<String>,
    #[serde(default, rename = "modelID")]
    model: Option<String>,
}

#[derive(Deserialize)]
struct Piece<'a> {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    ignored: bool,
    #[serde(default, rename = "callID")]
    call_id: Option<String>,
    #[serde(default)]
    tool: Option<String>,
    #[serde(borrow, default)]
    state: Option<State<'a>>,
}

#[derive(Deserialize)]
struct State<'a> {
    #[serde(default)]
    status: Option<String>,
    #[serde(borrow, default)]
    input: Option<&'a RawValue>,
    #[serde(borrow, default)]
    output: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
    #[serde(borrow, default)]
    attachments: Vec<&'a RawValue>,
}

pub(super) fn message(kind: &EventType, data: &Data) -> Option<Message> {
    let shown: RecordFields<'_> = data.read().ok()?;
    if let Some(message) = shown.message {
        return journal::view(kind, message);
    }
    let parts = || shown.parts.iter().flat_map(|raw| part(raw, &shown.info)).collect();
    match kind.as_str() {
        "user_message" => Some(Message::parts(Role::User, parts())),
        "assistant_message" => Some(Message::parts(Role::Assistant, parts())),
        "history_compaction" => {
            let summary = Message::parts(Role::User, parts()).plain_text();
            let text = format!("[Summary of the conversation so far]\n{summary}");
            Some(Message::text(Role::User, text))
        }
        _ => None,
    }
}

/// Converts a part of an opencode message to parts of a [`Message`]. Returns nothing for a part
/// that the model does not see, such as the start, the end or the file changes of a step.
fn part(raw: &RawValue, info: &Info) -> Vec<Part> {
    let other = || vec![Part::Other { value: Data::from_checked(raw.get()) }];
    let Ok(piece) = serde_json::from_str::<Piece<'_>>(raw.get()) else {
        return other();
    };
    let kind = piece.kind.clone();
    match (&*kind, piece) {
        ("text", Piece { ignored: true, .. }) => Vec::new(),
        ("text", Piece { text: Some(text), .. }) => vec![Part::Text { text }],
        ("reasoning", Piece { text: Some(text), .. }) => vec![Part::Reasoning {
            text,
            provider: info.provider.clone(),
            model: info.model.clone(),
            opaque: Some(Data::from_checked(raw.get())),
        }],
        ("tool", Piece { call_id: Some(id), tool, state, .. }) => {
            call(id, tool.unwrap_or_default(), state.as_ref())
        }
        (
            "step-start" | "step-finish" | "snapshot" | "patch" | "retry" | "agent" | "compaction",
            _,
        ) => Vec::new(),
        _ => other(),
    }
}

fn call(id: String, name: String, state: Option<&State<'_>>) -> Vec<Part> {
    let input = state.and_then(|state| state.input).map_or("{}", RawValue::get);
    let failed = state.is_some_and(|state| state.status.as_deref() == Some("error"));
    let output = state.and_then(|state| match state.status.as_deref() {
        Some("completed") => Some(with_files(state.output, &state.attachments)),
        Some("error") => Some(with_files(state.error, &[])),
        _ => None,
    });
    let result = output.map(|content| Part::ToolResult {
        call_id: id.clone(),
        name: Some(name.clone()),
        content: Data::from_checked(content),
        is_error: failed,
        synthetic: false,
    });
    let call = Part::ToolCall { id, name, arguments: Data::from_checked(input) };
    std::iter::once(call).chain(result).collect()
}

/// Returns the content of a tool result: its text as it is stored or, if the tool also returned
/// files, a list of the text and the files.
fn with_files(text: Option<&RawValue>, files: &[&RawValue]) -> String {
    let text = text.map_or("\"\"", RawValue::get);
    if files.is_empty() {
        return text.to_owned();
    }
    let files: String = files.iter().map(|file| format!(",{}", file.get())).collect();
    format!("[{{\"type\":\"text\",\"text\":{text}}}{files}]")
}
