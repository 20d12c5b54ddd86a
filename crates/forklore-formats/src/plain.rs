//! Plain JSONL: a message a line, `{role, content}`, with the calls and results of the OpenAI
//! form or forklore's own parts where they are present.

use std::path::Path;

use forklore_model::call::{CallStep, Effect, OpenCall};
use forklore_model::dialect::{Covers, Dialect, FileFacts, Line, LineReader, Parent, Record};
use forklore_model::header::Usage;
use forklore_model::{Content, Data, EventType, Message, Part, Role, payload};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::head::{Probe, any_line};
use crate::lenient::{Flag, Object, Said, Text, fields};
use crate::time;

/// The name kept with each event.
pub const NAME: &str = "plain";

/// Files of messages, a message a line.
#[derive(Clone, Copy, Debug, Default)]
pub struct Plain;

impl Dialect for Plain {
    fn name(&self) -> &'static str {
        NAME
    }

    fn detect(&self, _path: &Path, head: &[u8]) -> bool {
        any_line(head, is_own)
    }

    fn reader(&self, _path: &Path, _memory: Option<&str>) -> Box<dyn LineReader> {
        Box::new(Reader)
    }

    fn view(&self, kind: &EventType, data: &Data) -> Option<Message> {
        view(kind, data)
    }

    fn compaction(&self, _data: &Data) -> Option<Covers> {
        None
    }
}

fn is_own(line: &Probe<'_>) -> bool {
    let says = !matches!(line.content, Said::Nothing) || !line.tool_calls.blocks().is_empty();
    says && line.role.get().and_then(kind_of).is_some()
}

fn kind_of(role: &str) -> Option<EventType> {
    match role {
        "system" | "developer" => Some(EventType::SYSTEM_MESSAGE),
        "user" => Some(EventType::USER_MESSAGE),
        "assistant" => Some(EventType::ASSISTANT_MESSAGE),
        "tool" | "function" => Some(EventType::TOOL_RESULT),
        _ => None,
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Fields<'a> {
    #[serde(borrow)]
    role: Text<'a>,
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    timestamp: Text<'a>,
    #[serde(borrow)]
    ts: Text<'a>,
    #[serde(borrow)]
    tool_call_id: Text<'a>,
    #[serde(borrow)]
    content: Said<Block<'a>>,
    #[serde(borrow)]
    tool_calls: Said<Call<'a>>,
    injected: Flag,
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
    call_id: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Call<'a> {
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    function: Object<Function<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Function<'a> {
    #[serde(borrow)]
    name: Text<'a>,
}

#[derive(Debug)]
struct Reader;

impl LineReader for Reader {
    fn read(&mut self, line: &str) -> Line {
        match fields::<Fields<'_>>(line, &mut String::new()) {
            Ok(fields) => read(&fields),
            Err(why) => Line::Damage(why),
        }
    }
}

fn read(fields: &Fields<'_>) -> Line {
    let Some(kind) = fields.role.get().and_then(kind_of) else {
        return Line::Side(FileFacts::default());
    };
    let ts = time::from_text(&fields.timestamp).or_else(|| time::from_text(&fields.ts));
    Line::Record(Box::new(Record {
        native_id: fields.id.to_owned(),
        key: None,
        parent: Parent::Previous,
        ts,
        class: kind.class(),
        effect: Effect {
            starts_turn: kind == EventType::USER_MESSAGE && !fields.injected.0,
            calls: calls(fields),
        },
        kind,
        only_results: false,
        sidechain: false,
        leaf: true,
        usage: Usage::default(),
        facts: FileFacts::default(),
    }))
}

fn calls(fields: &Fields<'_>) -> Vec<CallStep> {
    let open = |id: &Text<'_>, name: &Text<'_>| {
        let name = name.to_owned().unwrap_or_default();
        Some(CallStep::Open(OpenCall { id: id.to_owned()?, name }))
    };
    let in_content = fields.content.blocks().iter().filter_map(|block| match block.kind.get()? {
        "tool_call" => open(&block.id, &block.name),
        "tool_result" => block.call_id.to_owned().map(CallStep::Close),
        _ => None,
    });
    let beside = fields.tool_calls.blocks().iter();
    let beside = beside.filter_map(|call| open(&call.id, &call.function.0.name));
    let closes = fields.tool_call_id.to_owned().map(CallStep::Close);
    in_content.chain(beside).chain(closes).collect()
}

#[derive(Deserialize)]
struct Shown<'a> {
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    tool_call_id: Option<String>,
    #[serde(borrow, default)]
    tool_calls: Vec<ShownCall<'a>>,
}

#[derive(Deserialize)]
struct ShownCall<'a> {
    id: String,
    #[serde(borrow)]
    function: ShownFunction<'a>,
}

#[derive(Deserialize)]
struct ShownFunction<'a> {
    name: String,
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
}

fn view(kind: &EventType, data: &Data) -> Option<Message> {
    let role = match kind.as_str() {
        "system_message" => Role::System,
        "user_message" => Role::User,
        "assistant_message" => Role::Assistant,
        "tool_result" => Role::Tool,
        _ => return None,
    };
    let shown: Shown<'_> = data.read().ok()?;
    if let Some(call_id) = shown.tool_call_id {
        let content = Data::from_checked(shown.content.map_or("\"\"", RawValue::get));
        let result = Part::ToolResult {
            call_id,
            name: shown.name,
            content,
            is_error: false,
            synthetic: false,
        };
        return Some(Message { role, content: Content::Parts(vec![result]) });
    }
    let content = payload::content(shown.content.filter(|raw| raw.get() != "null")).ok()?;
    let mut message = Message { role, content };
    if !shown.tool_calls.is_empty() {
        let mut parts = message.to_parts();
        parts.retain(|part| !matches!(part, Part::Text { text } if text.is_empty()));
        parts.extend(shown.tool_calls.into_iter().map(|call| Part::ToolCall {
            id: call.id,
            name: call.function.name,
            arguments: arguments(call.function.arguments),
        }));
        message.content = Content::Parts(parts);
    }
    Some(message)
}

/// The arguments of a call: JSON in a string in the OpenAI form, given as the JSON it holds.
fn arguments(raw: Option<&RawValue>) -> Data {
    let raw = raw.map_or("{}", RawValue::get);
    let inside = serde_json::from_str::<String>(raw).ok();
    inside.and_then(|text| Data::parse(&text).ok()).unwrap_or_else(|| Data::from_checked(raw))
}
