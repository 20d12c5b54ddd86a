//! The messages of opencode's second version, which are in the table `session_message` of its
//! database. A message is one JSON object with its type and its content.

use forklore_core::call::CallStep;
use forklore_core::{Class, Content, Data, EventType, Message, Part, Role};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::message::{MessageSummary, NAME, Times, call_steps};
use crate::author::Author;
use crate::lenient::{MessageContent, Object, Text};
use crate::time;

/// A message of the second version. The struct has the fields of all types of messages.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct JournalMessage<'a> {
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    text: Text<'a>,
    #[serde(borrow)]
    status: Text<'a>,
    #[serde(borrow)]
    summary: Text<'a>,
    #[serde(borrow)]
    command: Text<'a>,
    #[serde(borrow)]
    content: MessageContent<Block<'a>>,
    time: Object<Times>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Block<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    text: Text<'a>,
    #[serde(borrow)]
    state: Object<State<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct State<'a> {
    #[serde(borrow)]
    status: Text<'a>,
}

impl JournalMessage<'_> {
    /// Returns what the reader needs of the message. Returns `None` if the message has no type.
    pub(super) fn summary(&self) -> Option<MessageSummary> {
        let (kind, class) = self.sort(self.kind.get()?);
        let calls = if class == Class::Conversation { self.calls() } else { Vec::new() };
        let is_typed = self.text.get().is_none_or(|text| Author::of(text) != Author::Agent);
        Some(MessageSummary {
            id: self.id.to_owned(),
            starts_turn: self.kind.is("user") && is_typed,
            kind,
            class,
            calls,
            ts: time::from_millis(self.time.0.created),
            fingerprint: self.fingerprint(),
        })
    }

    /// Returns the event type of the message and its class.
    fn sort(&self, kind: &str) -> (EventType, Class) {
        let own = |kind: EventType| (kind.clone(), kind.class());
        match kind {
            "user" | "synthetic" | "skill" | "shell" => own(EventType::USER_MESSAGE),
            "system" => own(EventType::SYSTEM_MESSAGE),
            "assistant" => own(EventType::ASSISTANT_MESSAGE),
            // Earlier versions state no status and write the message when the summary is there.
            "compaction" if self.status.get().is_none_or(|status| status == "completed") => {
                own(EventType::HISTORY_COMPACTION)
            }
            "compaction" => (EventType::extension(NAME, kind), Class::Evidence),
            kind => (EventType::extension(NAME, kind), Class::Audit),
        }
    }

    fn calls(&self) -> Vec<CallStep> {
        let tools = self.content.blocks().iter().filter(|block| block.kind.is("tool"));
        let steps = tools.flat_map(|block| {
            call_steps(block.id.to_owned(), block.name.to_owned(), block.state.0.status.get())
        });
        steps.collect()
    }

    /// Returns a hash of the message's type, its texts, and its tool calls with their states. It
    /// shows whether two versions of the message differ.
    fn fingerprint(&self) -> u32 {
        let mut hash = crc32fast::Hasher::new();
        let own = [&self.kind, &self.text, &self.status, &self.summary, &self.command];
        let blocks = self.content.blocks().iter();
        let of_blocks =
            blocks.flat_map(|block| [&block.kind, &block.text, &block.id, &block.state.0.status]);
        for text in own.into_iter().chain(of_blocks) {
            hash.update(text.get().unwrap_or_default().as_bytes());
        }
        hash.finalize()
    }
}

/// A message as it is stored, with the fields that are shown.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Shown<'a> {
    #[serde(rename = "type")]
    kind: String,
    text: String,
    command: String,
    summary: String,
    recent: String,
    #[serde(borrow)]
    output: Option<&'a RawValue>,
    #[serde(borrow)]
    files: Vec<&'a RawValue>,
    #[serde(borrow)]
    content: Vec<&'a RawValue>,
    model: Model,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Model {
    id: Option<String>,
    #[serde(rename = "providerID")]
    provider: Option<String>,
}

/// Converts a message to the common form. Returns `None` if the model does not receive it.
pub(super) fn view(kind: &EventType, message: &RawValue) -> Option<Message> {
    let shown: Shown<'_> = serde_json::from_str(message.get()).ok()?;
    Some(match (kind.as_str(), &*shown.kind) {
        ("user_message", "shell") => {
            let output = shown.output.map(output).unwrap_or_default();
            Message::text(Role::User, format!("Shell command: {}\n\n{output}", shown.command))
        }
        ("user_message", _) if shown.files.is_empty() => Message::text(Role::User, shown.text),
        ("user_message", _) => {
            let text = (!shown.text.is_empty()).then_some(Part::Text { text: shown.text });
            let files = shown.files.into_iter().map(file);
            Message::parts(Role::User, text.into_iter().chain(files).collect())
        }
        ("system_message", _) => Message::text(Role::System, shown.text),
        ("assistant_message", _) => {
            let parts = shown.content.iter().flat_map(|raw| part(raw, &shown.model));
            Message { role: Role::Assistant, content: Content::Parts(parts.collect()) }
        }
        ("history_compaction", _) => {
            let mut text = format!("[Summary of the conversation so far]\n{}", shown.summary);
            if !shown.recent.is_empty() {
                text.push_str(&format!("\n[Its last part]\n{}", shown.recent));
            }
            Message::text(Role::User, text)
        }
        _ => return None,
    })
}

/// Returns the output of a command, which is a text or an object with the text.
fn output(raw: &RawValue) -> String {
    #[derive(Deserialize)]
    struct Output {
        output: String,
    }
    let text = || serde_json::from_str::<String>(raw.get());
    let object = || serde_json::from_str::<Output>(raw.get()).map(|it| it.output);
    text().or_else(|_| object()).unwrap_or_default()
}

/// Converts an attached file to a part in the form of opencode's first version. The other code of
/// this format expects that form.
fn file(raw: &RawValue) -> Part {
    #[derive(Deserialize)]
    struct File<'a> {
        mime: String,
        #[serde(borrow)]
        data: &'a RawValue,
        name: Option<String>,
    }
    let read = || -> Option<Data> {
        let file: File<'_> = serde_json::from_str(raw.get()).ok()?;
        let bytes: String = serde_json::from_str(file.data.get()).ok()?;
        let url = format!("data:{};base64,{bytes}", file.mime);
        let part = serde_json::json!({"type": "file", "mime": file.mime, "filename": file.name,
            "url": url});
        Data::of(&part).ok()
    };
    Part::Other { value: read().unwrap_or_else(|| Data::from_checked(raw.get())) }
}

#[derive(Deserialize)]
struct Piece<'a> {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    name: Option<String>,
    #[serde(borrow, default)]
    state: ToolState<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ToolState<'a> {
    status: String,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    structured: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

/// Converts a block of the model's message. A tool call is followed by its result.
fn part(raw: &RawValue, model: &Model) -> Vec<Part> {
    let other = || vec![Part::Other { value: Data::from_checked(raw.get()) }];
    let Ok(piece) = serde_json::from_str::<Piece<'_>>(raw.get()) else { return other() };
    match piece {
        Piece { kind, text: Some(text), .. } if kind == "text" => vec![Part::Text { text }],
        Piece { kind, text: Some(text), .. } if kind == "reasoning" => vec![Part::Reasoning {
            text,
            provider: model.provider.clone(),
            model: model.id.clone(),
            opaque: Some(Data::from_checked(raw.get())),
        }],
        Piece { kind, id: Some(id), name, state, .. } if kind == "tool" => {
            call(id, name.unwrap_or_default(), &state)
        }
        _ => other(),
    }
}

fn call(id: String, name: String, state: &ToolState<'_>) -> Vec<Part> {
    let input = state.input.map_or("{}", RawValue::get);
    let output = match &*state.status {
        "completed" => state.content.or(state.result).or(state.structured),
        "error" => state.error.or(state.content),
        _ => None,
    };
    let result = output.map(|content| Part::ToolResult {
        call_id: id.clone(),
        name: Some(name.clone()),
        content: Data::from_checked(content.get()),
        is_error: state.status == "error",
        synthetic: false,
    });
    let call = Part::ToolCall { id, name, arguments: Data::from_checked(input) };
    std::iter::once(call).chain(result).collect()
}
