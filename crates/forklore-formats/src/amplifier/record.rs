//! Parses the lines of an Amplifier transcript.

use std::path::Path;

use forklore_core::EventType;
use forklore_core::agent_format::{FileFacts, Line, LineReader, Record};
use forklore_core::call::{CallStep, Effect};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::paths;
use crate::author::Author;
use crate::lenient::{MessageContent, Object, Text, fields};
use crate::roles::{kind_of, opened};
use crate::time;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Fields<'a> {
    #[serde(borrow)]
    role: Text<'a>,
    #[serde(borrow)]
    timestamp: Text<'a>,
    #[serde(borrow)]
    tool_call_id: Text<'a>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_calls: MessageContent<Call<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CallBlock<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(rename = "text")]
    author: Author,
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    tool_call_id: Text<'a>,
    #[serde(borrow)]
    tool_use_id: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Call<'a> {
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    tool: Text<'a>,
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    function: Object<Function<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Function<'a> {
    #[serde(borrow)]
    name: Text<'a>,
}

/// Reads the lines of one Amplifier transcript.
#[derive(Debug)]
pub(super) struct Reader {
    /// Facts about the session from the file's path. The reader returns them once, with the first
    /// line that it can read.
    facts: FileFacts,
}

impl Reader {
    pub(super) fn new(path: &Path) -> Self {
        Self { facts: paths::facts(path) }
    }
}

impl LineReader for Reader {
    fn read(&mut self, line: &str) -> Line {
        let mut plainer = String::new();
        let fields = match fields::<Fields<'_>>(line, &mut plainer) {
            Ok(fields) => fields,
            Err(why) => return Line::Damage(why),
        };
        let facts = std::mem::take(&mut self.facts);
        match fields.role.get().and_then(kind_of) {
            Some(kind) => Line::Record(Box::new(record(kind, &fields, facts))),
            None => Line::Side(facts),
        }
    }
}

fn record(kind: EventType, fields: &Fields<'_>, facts: FileFacts) -> Record {
    let content: MessageContent<CallBlock<'_>> =
        fields.content.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default();
    let results = |block: &CallBlock<'_>| block.kind.is("tool_result");
    let only_results = !content.blocks().is_empty() && content.blocks().iter().all(results);
    let is_user = kind == EventType::USER_MESSAGE;
    let kind = if is_user && only_results { EventType::TOOL_RESULT } else { kind };
    Record {
        ts: time::from_text(&fields.timestamp),
        effect: Effect {
            starts_turn: kind == EventType::USER_MESSAGE
                && content.begins_turn(|block| Author::of_block(block.kind.get(), block.author)),
            calls: calls(fields, &content),
        },
        facts,
        ..Record::of(kind)
    }
}

/// Returns the tool calls that a message opens, and those that it closes with a result. A call may
/// be a block of the content, an element of a separate field, or both; it is then returned once.
fn calls(fields: &Fields<'_>, content: &MessageContent<CallBlock<'_>>) -> Vec<CallStep> {
    let mut steps: Vec<CallStep> = Vec::new();
    let mut step = |next: Option<CallStep>| {
        steps.extend(next.filter(|next| !steps.iter().any(|step| is_same(step, next))));
    };
    for block in content.blocks() {
        match block.kind.get() {
            Some("tool_call" | "tool_use") => step(opened(&block.id, &block.name)),
            Some("tool_result") => {
                let id = block.tool_call_id.to_owned().or_else(|| block.tool_use_id.to_owned());
                step(id.map(CallStep::Close));
            }
            _ => {}
        }
    }
    for call in fields.tool_calls.blocks() {
        let names = [&call.tool, &call.name, &call.function.0.name];
        let name = names.into_iter().find(|name| name.get().is_some()).unwrap_or(&call.name);
        step(opened(&call.id, name));
    }
    step(fields.tool_call_id.to_owned().map(CallStep::Close));
    steps
}

fn is_same(a: &CallStep, b: &CallStep) -> bool {
    match (a, b) {
        (CallStep::Open(a), CallStep::Open(b)) => a.id == b.id,
        (CallStep::Close(a), CallStep::Close(b)) => a == b,
        _ => false,
    }
}
