//! Parses the lines of a Pi file. This is the hot path of an import: each line is parsed once, and
//! only the required values are built.

use forklore_core::Usage;
use forklore_core::agent_format::{FileFacts, Line, LineReader, Parent, Record};
use forklore_core::call::{CallStep, Effect};
use forklore_core::{Class, EventType};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::author::Author;
use crate::lenient::{MessageContent, Number, Object, Text, Whole, fields};
use crate::roles::opened;
use crate::time;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Fields<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow, rename = "parentId")]
    parent: Text<'a>,
    /// The time of the line: a text, or from version 4 of the format on a number of milliseconds
    /// since 1970.
    #[serde(borrow)]
    timestamp: Option<&'a RawValue>,
    #[serde(borrow)]
    cwd: Text<'a>,
    /// What the line is: a header, an entry, or a record that does not belong to the tree of
    /// entries. Only files from version 4 on have this field.
    #[serde(borrow, rename = "kind")]
    form: Text<'a>,
    /// The running number of the line. Only files from version 4 on have this field.
    seq: Whole,
    #[serde(rename = "createdAt")]
    created_at: Number,
    #[serde(borrow)]
    lane: Text<'a>,
    #[serde(borrow)]
    fact: Text<'a>,
    #[serde(borrow, rename = "parentSessionId")]
    parent_session_id: Text<'a>,
    #[serde(borrow, rename = "legacyParentSessionPath")]
    legacy_parent_path: Text<'a>,
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow, rename = "parentSession")]
    parent_session: Text<'a>,
    #[serde(borrow)]
    message: Object<MessageFields<'a>>,
    usage: Object<UsageFields>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct MessageFields<'a> {
    #[serde(borrow)]
    role: Text<'a>,
    #[serde(borrow, rename = "toolCallId")]
    tool_call_id: Text<'a>,
    #[serde(borrow)]
    content: MessageContent<CallBlock<'a>>,
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
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct UsageFields {
    input: Number,
    output: Number,
    cache_read: Number,
    cost: Object<Cost>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Cost {
    total: Number,
}

/// Reads the lines of one Pi session file.
#[derive(Debug)]
pub(super) struct Reader;

impl LineReader for Reader {
    fn read(&mut self, line: &str) -> Line {
        match fields::<Fields<'_>>(line, &mut String::new()) {
            Ok(fields) => read(&fields),
            Err(why) => Line::Damage(why),
        }
    }
}

/// The name of the lane that Pi resumes. The lanes of a file are branches of its conversation that
/// Pi continues side by side.
const MAIN: &str = "main";

/// Reads a line that is no entry, in a file from version 4 on. Returns `None` for any other line.
fn off_tree(fields: &Fields<'_>) -> Option<FileFacts> {
    let numbered = fields.seq.0.is_some();
    match fields.form.get() {
        Some("header") => Some(FileFacts {
            native_id: fields.id.to_owned(),
            cwd: fields.cwd.to_owned(),
            created: time::from_millis(fields.created_at),
            copied_from: fields
                .parent_session_id
                .to_owned()
                .or_else(|| fields.legacy_parent_path.to_owned()),
            ..FileFacts::default()
        }),
        Some("fact") if numbered => {
            let title = fields.name.get().map(|name| name.trim().to_owned());
            let title = title.filter(|_| fields.fact.is("name"));
            Some(FileFacts { title, ..FileFacts::default() })
        }
        Some("record" | "lane") if numbered => Some(FileFacts::default()),
        _ => None,
    }
}

/// Converts a time: a text, or a number of milliseconds since 1970. Returns `None` if the value is
/// missing or is no time.
fn time_of(raw: Option<&RawValue>) -> Option<Timestamp> {
    let raw = raw?.get();
    match serde_json::from_str::<Text<'_>>(raw) {
        Ok(text) if text.get().is_some() => time::from_text(&text),
        _ => serde_json::from_str::<Number>(raw).ok().and_then(time::from_millis),
    }
}

fn read(fields: &Fields<'_>) -> Line {
    if let Some(facts) = off_tree(fields) {
        return Line::Side(facts);
    }
    let facts = |native_id, title| FileFacts {
        native_id,
        cwd: fields.cwd.to_owned(),
        title,
        created: time_of(fields.timestamp),
        ..FileFacts::default()
    };
    match fields.kind.get() {
        // Pi ignores a second header, so any header is a side record.
        Some("session") => Line::Side(FileFacts {
            copied_from: fields.parent_session.to_owned(),
            ..facts(fields.id.to_owned(), None)
        }),
        Some(kind) => {
            let titled = || fields.name.get().map(|name| name.trim().to_owned());
            let title =
                if kind == "session_info" { titled().or(Some(String::new())) } else { None };
            let facts = FileFacts { title, ..FileFacts::default() };
            Line::Record(Box::new(record(kind, fields, facts)))
        }
        None => Line::Side(FileFacts::default()),
    }
}

fn record(native: &str, fields: &Fields<'_>, facts: FileFacts) -> Record {
    let message = &fields.message.0;
    let (kind, class) = sort(native, message.role.get());
    let is_usage = kind == EventType::PROVIDER_USAGE;
    Record {
        native_id: fields.id.to_owned(),
        parent: parent(fields),
        ts: time_of(fields.timestamp),
        effect: Effect {
            starts_turn: native == "message"
                && message.role.is("user")
                && message
                    .content
                    .begins_turn(|block| Author::of_block(block.kind.get(), block.author)),
            calls: calls(&kind, message),
        },
        leaf: fields.lane.get().is_none_or(|lane| lane == MAIN),
        usage: if is_usage { usage(&fields.usage.0) } else { Usage::default() },
        class,
        facts,
        // Pi writes a result directly after the record with its call. The import need not search
        // for the call, so `only_results` remains `false`.
        ..Record::of(kind)
    }
}

/// Returns the parent of a record. Without an id and a parent, the record follows the previous one:
/// in files of the first version, records have no ids.
fn parent(fields: &Fields<'_>) -> Parent {
    match (fields.id.get(), fields.parent.to_owned()) {
        (None, None) => Parent::Previous,
        (Some(_), None) => Parent::None,
        (_, Some(id)) => Parent::Id(id),
    }
}

fn sort(kind: &str, role: Option<&str>) -> (EventType, Class) {
    let own = |kind: EventType| (kind.clone(), kind.class());
    let extension = |class| (EventType::extension(super::NAME, kind), class);
    match (kind, role) {
        ("message", Some("user" | "bashExecution" | "custom" | "hookMessage"))
        | ("custom_message", _) => own(EventType::USER_MESSAGE),
        ("message", Some("system")) => own(EventType::SYSTEM_MESSAGE),
        ("message", Some("assistant")) => own(EventType::ASSISTANT_MESSAGE),
        ("message", Some("toolResult")) => own(EventType::TOOL_RESULT),
        ("compaction", _) => own(EventType::HISTORY_COMPACTION),
        ("branch_summary", _) => own(EventType::BRANCH_SUMMARY),
        ("usage", _) => own(EventType::PROVIDER_USAGE),
        ("context_edit", _) => extension(Class::Context),
        ("model_change" | "thinking_level_change", _) => extension(Class::Evidence),
        _ => extension(Class::Audit),
    }
}

fn calls(kind: &EventType, message: &MessageFields<'_>) -> Vec<CallStep> {
    if *kind == EventType::TOOL_RESULT {
        return message.tool_call_id.to_owned().map(CallStep::Close).into_iter().collect();
    }
    if *kind != EventType::ASSISTANT_MESSAGE {
        return Vec::new();
    }
    let blocks = message.content.blocks().iter().filter(|block| block.kind.is("toolCall"));
    blocks.filter_map(|block| opened(&block.id, &block.name)).collect()
}

fn usage(fields: &UsageFields) -> Usage {
    Usage {
        input: fields.input.count(),
        output: fields.output.count(),
        cached: fields.cache_read.count(),
        cost: fields.cost.0.total.0,
    }
}
