//! The fields of a Gemini CLI message, and a summary of its content.

use forklore_core::call::{CallStep, OpenCall};
use forklore_core::typed::is_for_model;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::document::elements;
use crate::lenient::{Flag, MessageContent, Object, Text};

/// A message of a Gemini CLI session. In a saved conversation, it has the form of Google's API,
/// with `role` and `parts`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Message<'a> {
    #[serde(borrow)]
    pub(super) id: Text<'a>,
    #[serde(borrow)]
    pub(super) timestamp: Text<'a>,
    #[serde(borrow, rename = "type")]
    pub(super) kind: Text<'a>,
    #[serde(borrow)]
    pub(super) content: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) role: Text<'a>,
    #[serde(borrow)]
    pub(super) parts: Option<&'a RawValue>,
    #[serde(borrow, rename = "toolCalls")]
    pub(super) tool_calls: MessageContent<ToolCall<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ToolCall<'a> {
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    status: Text<'a>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Part<'a> {
    #[serde(borrow)]
    text: Text<'a>,
    thought: Flag,
    #[serde(borrow, rename = "functionCall")]
    call: Object<Function<'a>>,
    #[serde(borrow, rename = "functionResponse")]
    response: Object<Function<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Function<'a> {
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    name: Text<'a>,
}

impl Function<'_> {
    /// Returns the id of the tool call, or else the tool's name, because older versions wrote no
    /// ids.
    fn id(&self) -> Option<String> {
        self.id.to_owned().or_else(|| self.name.to_owned())
    }
}

/// The properties of a message that determine which event it becomes.
#[derive(Debug, Default)]
pub(crate) struct MessageSummary {
    /// The text of the message, without the model's thoughts.
    pub(crate) text: String,
    /// The tool calls and results in the message's content.
    pub(crate) calls: Vec<CallStep>,
    /// The tool calls and results in the message's field `toolCalls`.
    pub(super) tool_calls: Vec<CallStep>,
    /// Whether the message contains results of tool calls, and no text or file.
    pub(crate) only_results: bool,
    /// Whether the message contains anything that the user entered for the model: text or a file.
    pub(crate) says: bool,
}

impl MessageSummary {
    pub(crate) fn of(message: &Message<'_>) -> Self {
        let mut summary = Self::default();
        let (mut results, mut others) = (0, 0);
        for raw in message.content.or(message.parts).map(parts).unwrap_or_default() {
            if raw.get().starts_with('"') {
                let text: Option<String> = serde_json::from_str(raw.get()).ok();
                summary.say(&text.unwrap_or_default());
                others += 1;
                continue;
            }
            let Object(part) = serde_json::from_str(raw.get()).unwrap_or_default();
            let Part { text, thought, call: Object(call), response: Object(response) } = part;
            if let Some(id) = response.id() {
                summary.calls.push(CallStep::Close(id));
                results += 1;
            } else if let Some(id) = call.id() {
                let name = call.name.to_owned().unwrap_or_default();
                summary.calls.push(CallStep::Open(OpenCall { id, name }));
            } else if !thought.0 {
                summary.say(text.get().unwrap_or_default());
                summary.says |= text.get().is_none();
                others += 1;
            }
        }
        summary.only_results = results > 0 && others == 0;
        summary.tool_calls = message.tool_calls.blocks().iter().flat_map(steps).collect();
        summary
    }

    fn say(&mut self, text: &str) {
        self.text.push_str(text);
        self.says |= is_for_model(text);
    }

    /// Returns a hash of the message's text and type `kind`. It shows whether two versions of a
    /// message differ.
    pub(super) fn fingerprint(&self, kind: &str) -> u32 {
        let mut hash = crc32fast::Hasher::new();
        hash.update(kind.as_bytes());
        // The program's description of the working directory changes at each start, so the hash
        // contains only its beginning.
        let context = is_session_context(&self.text);
        hash.update(if context { CONTEXT } else { &self.text }.as_bytes());
        hash.finalize()
    }

    /// Returns a hash of the tool calls and results in `toolCalls`. It shows whether two versions
    /// of a message differ in them. Returns `None` if the message has none.
    pub(super) fn calls_fingerprint(&self) -> Option<u32> {
        if self.tool_calls.is_empty() {
            return None;
        }
        let mut hash = crc32fast::Hasher::new();
        for step in &self.tool_calls {
            let (how, id) = match step {
                CallStep::Open(call) => (b"o", &call.id),
                CallStep::Close(id) => (b"c", id),
            };
            hash.update(how);
            hash.update(id.as_bytes());
        }
        Some(hash.finalize())
    }
}

const CONTEXT: &str = "<session_context>";

/// Checks whether a message describes the working directory. Gemini CLI adds such a message at each
/// start.
pub(super) fn is_session_context(text: &str) -> bool {
    text.starts_with(CONTEXT)
}

/// Returns the first directory in Gemini CLI's description of the working directories, or `None` if
/// the text lists none.
pub(super) fn folder(context: &str) -> Option<String> {
    let (_, behind) = context.split_once("Workspace Directories:**\n")?;
    let first = behind.lines().next()?.trim_start().strip_prefix("- ")?;
    Some(first.trim_end().to_owned())
}

/// Returns the parts of a message's content, which is a string, one part, or a list of parts.
pub(super) fn parts(content: &RawValue) -> Vec<&RawValue> {
    if content.get().starts_with('[') { elements(content) } else { vec![content] }
}

fn steps(call: &ToolCall<'_>) -> Vec<CallStep> {
    let Some(id) = call.id.to_owned().or_else(|| call.name.to_owned()) else {
        return Vec::new();
    };
    let name = call.name.to_owned().unwrap_or_default();
    let over = matches!(call.status.get(), Some("success" | "error" | "cancelled"));
    let answered = over || call.result.is_some_and(|result| result.get() != "null");
    let open = CallStep::Open(OpenCall { id: id.clone(), name });
    std::iter::once(open).chain(answered.then_some(CallStep::Close(id))).collect()
}
