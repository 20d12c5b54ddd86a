//! Parses lines that contain a message, and documents that contain a list of messages.

use forklore_core::EventType;
use forklore_core::agent_format::{FileFacts, Line, LineReader, Record, Several};
use forklore_core::call::{CallStep, Effect};
use forklore_core::data::without_lone_surrogates;
use serde::Deserialize;

use crate::author::Author;
use crate::document::{Document, range};
use crate::lenient::{Flag, MessageContent, Object, Text, fields};
use crate::roles::{kind_of, opened};
use crate::time;

pub(super) const MESSAGES: &str = "messages";

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
    content: MessageContent<CallBlock<'a>>,
    #[serde(borrow)]
    tool_calls: MessageContent<Call<'a>>,
    injected: Flag,
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
    call_id: Text<'a>,
    #[serde(borrow)]
    tool_use_id: Text<'a>,
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

/// Reads a file of plain messages: its lines, or the file as one JSON document.
#[derive(Debug)]
pub(super) struct Reader {
    /// Whether the file contains one message per line, and is not one JSON document.
    pub(super) lines: bool,
}

impl LineReader for Reader {
    fn read(&mut self, line: &str) -> Line {
        if !self.lines {
            let text = without_lone_surrogates(line);
            let found = Document::read(&text, MESSAGES);
            if found.has_list {
                return Line::Several(document(&text, found));
            }
        }
        match fields::<Fields<'_>>(line, &mut String::new()) {
            Ok(fields) => message(&fields)
                .map_or(Line::Side(FileFacts::default()), |record| Line::Record(Box::new(record))),
            Err(damage) => Line::Damage(damage),
        }
    }
}

/// Returns the messages in a JSON document. The field `system`, which Anthropic's API uses, becomes
/// the first message, even if it follows `messages` in the document.
fn document(text: &str, found: Document<'_>) -> Several {
    let mut records = Vec::with_capacity(found.items.len() + 1);
    if let Some(system) = found.field("system").filter(|raw| raw.get().starts_with(['"', '['])) {
        let fields = Fields { role: Text::from(Some("system".to_owned())), ..Fields::default() };
        records.extend(range(text, system.get()).zip(message(&fields)));
    }
    for raw in &found.items {
        let mut plainer = String::new();
        let record = fields::<Fields<'_>>(raw.get(), &mut plainer).ok();
        let record = record.and_then(|fields| message(&fields));
        records.extend(range(text, raw.get()).zip(record));
    }
    let facts = FileFacts { title: found.text("title"), ..FileFacts::default() };
    Several { records, facts, damage: found.damage }
}

fn message(fields: &Fields<'_>) -> Option<Record> {
    let mut kind = fields.role.get().and_then(kind_of)?;
    let results = |block: &CallBlock<'_>| block.kind.is("tool_result");
    let blocks = fields.content.blocks();
    if kind == EventType::USER_MESSAGE && !blocks.is_empty() && blocks.iter().all(results) {
        kind = EventType::TOOL_RESULT;
    }
    let ts = time::from_text(&fields.timestamp).or_else(|| time::from_text(&fields.ts));
    Some(Record {
        native_id: fields.id.to_owned(),
        ts,
        effect: Effect {
            starts_turn: kind == EventType::USER_MESSAGE
                && !fields.injected.0
                && fields
                    .content
                    .begins_turn(|block| Author::of_block(block.kind.get(), block.author)),
            calls: calls(fields),
        },
        ..Record::of(kind)
    })
}

fn calls(fields: &Fields<'_>) -> Vec<CallStep> {
    let in_content = fields.content.blocks().iter().filter_map(|block| match block.kind.get()? {
        "tool_call" | "tool_use" => opened(&block.id, &block.name),
        "tool_result" => {
            let id = block.call_id.to_owned().or_else(|| block.tool_use_id.to_owned());
            id.map(CallStep::Close)
        }
        _ => None,
    });
    let calls = fields.tool_calls.blocks().iter();
    let calls = calls.filter_map(|call| opened(&call.id, &call.function.0.name));
    let closes = fields.tool_call_id.to_owned().map(CallStep::Close);
    in_content.chain(calls).chain(closes).collect()
}
