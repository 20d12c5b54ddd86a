//! Parses the lines of a Factory Droid file. Each line is parsed once, and only the required values
//! are built.

use forklore_core::agent_format::{FileFacts, Line, LineReader, Record};
use forklore_core::call::{CallStep, Effect};
use forklore_core::{Class, EventType};
use serde::Deserialize;

use crate::author::Author;
use crate::lenient::{MessageContent, Object, Text, fields};
use crate::roles::opened;
use crate::time;

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Fields<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    timestamp: Text<'a>,
    #[serde(borrow)]
    title: Text<'a>,
    #[serde(borrow)]
    session_title: Text<'a>,
    #[serde(borrow)]
    cwd: Text<'a>,
    /// The session from which this session was forked, or the session that called this one as a
    /// sub-agent.
    #[serde(borrow)]
    parent: Text<'a>,
    #[serde(borrow)]
    calling_session_id: Text<'a>,
    #[serde(borrow)]
    message: Object<MessageFields<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct MessageFields<'a> {
    #[serde(borrow)]
    role: Text<'a>,
    #[serde(borrow)]
    visibility: Text<'a>,
    #[serde(borrow)]
    content: MessageContent<ContentBlock<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ContentBlock<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(rename = "text")]
    author: Author,
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    tool_use_id: Text<'a>,
}

impl ContentBlock<'_> {
    /// Returns the author of a block in a user message.
    fn author(&self) -> Author {
        match self.kind.get() {
            Some("text") => self.author,
            Some("image" | "document") => Author::Person,
            _ => Author::Nobody,
        }
    }
}

/// Reads the lines of one Factory Droid session file.
#[derive(Debug)]
pub(super) struct Reader {
    /// True once a header or any record was read. If a record comes first, the file has no header.
    header_read: bool,
    before: bool,
}

const HEADER: &str = "header";

impl Reader {
    pub(super) fn new(memory: Option<&str>) -> Self {
        let header_read = memory == Some(HEADER);
        Self { header_read, before: header_read }
    }

    fn line(&mut self, fields: &Fields<'_>) -> Line {
        match fields.kind.get() {
            Some("session_start") => {
                self.header_read = true;
                Line::Side(header(fields))
            }
            Some(_) => Line::Record(Box::new(Record { facts: self.facts(), ..record(fields) })),
            None => Line::Side(FileFacts::default()),
        }
    }

    /// Returns the facts for a record. For the first record of a file without a header, they report
    /// that the header is missing.
    fn facts(&mut self) -> FileFacts {
        if std::mem::replace(&mut self.header_read, true) {
            return FileFacts::default();
        }
        let irregular = Some("the file does not begin with whose session it is".to_owned());
        FileFacts { irregular, ..FileFacts::default() }
    }
}

impl LineReader for Reader {
    fn read(&mut self, line: &str) -> Line {
        self.before = self.header_read;
        match fields::<Fields<'_>>(line, &mut String::new()) {
            Ok(fields) => self.line(&fields),
            Err(why) => Line::Damage(why),
        }
    }

    fn memory(&self) -> Option<String> {
        self.header_read.then(|| HEADER.to_owned())
    }

    fn memory_before(&self) -> Option<String> {
        self.before.then(|| HEADER.to_owned())
    }
}

/// Returns the facts in the header. If the header names a calling session, the session is a
/// sub-agent's, and `parent` also names the calling session. Otherwise `parent` names the session
/// from which the first messages were copied.
fn header(fields: &Fields<'_>) -> FileFacts {
    let caller = fields.calling_session_id.to_owned();
    FileFacts {
        native_id: fields.id.to_owned(),
        cwd: fields.cwd.to_owned(),
        title: fields.session_title.to_owned().or_else(|| fields.title.to_owned()),
        copied_from: fields.parent.to_owned().filter(|_| caller.is_none()),
        caller,
        ..FileFacts::default()
    }
}

fn record(fields: &Fields<'_>) -> Record {
    let message = &fields.message.0;
    let blocks = message.content.blocks();
    let (kind, class) = sort(fields, blocks);
    let starts_turn = kind == EventType::USER_MESSAGE && is_real(message);
    let calls = match class {
        Class::Conversation => blocks.iter().filter_map(call_step).collect(),
        _ => Vec::new(),
    };
    Record {
        native_id: fields.id.to_owned(),
        ts: time::from_text(&fields.timestamp),
        class,
        effect: Effect { starts_turn, calls },
        // Factory Droid reads its messages in the order of the file, whatever parents they name, so
        // each record continues the previous one.
        ..Record::of(kind)
    }
}

fn sort(fields: &Fields<'_>, blocks: &[ContentBlock<'_>]) -> (EventType, Class) {
    let own = |kind: EventType| (kind.clone(), kind.class());
    let extension = |name: &str, class| (EventType::extension(super::NAME, name), class);
    let message = &fields.message.0;
    match (fields.kind.get(), message.role.get()) {
        // The model never receives such a message.
        (Some("message"), _) if message.visibility.is("user_only") => {
            extension("message", Class::Evidence)
        }
        (Some("message"), Some("assistant")) => own(EventType::ASSISTANT_MESSAGE),
        (Some("message"), Some("user")) => {
            let has = |kind: &str| blocks.iter().any(|block| block.kind.is(kind));
            let only_results = has("tool_result") && !has("text");
            own(if only_results { EventType::TOOL_RESULT } else { EventType::USER_MESSAGE })
        }
        (Some("compaction_state"), _) => own(EventType::HISTORY_COMPACTION),
        (kind, _) => extension(kind.unwrap_or("record"), Class::Audit),
    }
}

/// Checks whether a person wrote at least a part of the message. Returns `false` if Factory Droid
/// itself wrote all of it.
fn is_real(message: &MessageFields<'_>) -> bool {
    let has_content = !matches!(message.content, MessageContent::Nothing);
    has_content
        && !message.visibility.is("llm_only")
        && message.content.begins_turn(ContentBlock::author)
}

fn call_step(block: &ContentBlock<'_>) -> Option<CallStep> {
    match block.kind.get()? {
        "tool_use" => opened(&block.id, &block.name),
        "tool_result" => block.tool_use_id.to_owned().map(CallStep::Close),
        _ => None,
    }
}
