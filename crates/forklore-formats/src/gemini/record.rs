//! Parses a line or a document of Gemini CLI. A line contains a new, extended or repeated message,
//! replaces the list of messages, describes the session, or makes the conversation return to an
//! earlier position.

use std::ops::Range;
use std::path::Path;

use forklore_core::agent_format::{FileFacts, Line, LineReader, Record, Several};
use forklore_core::call::Effect;
use forklore_core::data::without_lone_surrogates;
use forklore_core::{Class, EventType};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::message::{Message, MessageSummary, folder, is_session_context};
use crate::document::{Document, elements, range};
use crate::history::{At, History, START, key};
use crate::lenient::{Object, Text, fields};
use crate::time;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Fields<'a> {
    #[serde(borrow, rename = "sessionId")]
    session_id: Text<'a>,
    #[serde(borrow, rename = "startTime")]
    start_time: Text<'a>,
    #[serde(borrow)]
    summary: Text<'a>,
    #[serde(borrow)]
    kind: Text<'a>,
    #[serde(borrow, rename = "$set")]
    set: Option<&'a RawValue>,
    #[serde(borrow, rename = "$rewindTo")]
    rewind_to: Text<'a>,
}

/// The fields of a session's header. A line with the field `$set` changes them.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Header<'a> {
    #[serde(borrow, rename = "sessionId")]
    session_id: Text<'a>,
    #[serde(borrow, rename = "startTime")]
    start_time: Text<'a>,
    #[serde(borrow)]
    summary: Text<'a>,
    #[serde(borrow)]
    messages: Option<&'a RawValue>,
}

impl Header<'_> {
    fn facts(&self) -> FileFacts {
        FileFacts {
            native_id: self.session_id.to_owned(),
            created: time::from_text(&self.start_time),
            title: self.summary.to_owned(),
            ..FileFacts::default()
        }
    }
}

/// Reads the lines of a Gemini CLI file, or the file as one JSON document.
#[derive(Debug)]
pub(super) struct Reader {
    history: History,
    is_document: bool,
    /// The tag that the user gave to a saved conversation, from the file name. `None` for other
    /// files.
    tag: Option<String>,
    /// The name of the directory that contains the file. For a sub-agent's file, it is the id of
    /// the calling session.
    folder: Option<String>,
}

impl Reader {
    pub(super) fn new(path: &Path, memory: Option<&str>) -> Self {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let folder = path.parent().and_then(Path::file_name);
        Self {
            history: History::new(memory),
            is_document: path.extension().is_none_or(|end| !end.eq_ignore_ascii_case("jsonl")),
            tag: stem.strip_prefix("checkpoint-").map(str::to_owned),
            folder: folder.map(|name| name.to_string_lossy().into_owned()),
        }
    }

    fn line(&mut self, line: &str) -> Result<Line, String> {
        let text = without_lone_surrogates(line);
        let line = &*text;
        let mut plainer = String::new();
        let Fields { session_id, start_time, summary, kind, set, rewind_to } =
            fields(line, &mut plainer)?;
        if let Some(id) = rewind_to.get() {
            return Ok(self.rewind(id));
        }
        if let Some(set) = set {
            let Object::<Header<'_>>(set) = serde_json::from_str(set.get()).unwrap_or_default();
            let facts = set.facts();
            let listed = set.messages.map(elements).unwrap_or_default();
            let records = if listed.is_empty() { Vec::new() } else { self.list(line, &listed) };
            if records.is_empty() {
                return Ok(Line::Side(facts));
            }
            return Ok(Line::Several(Several { records, facts, damage: None }));
        }
        let header = Header { session_id, start_time, summary, messages: None };
        if header.session_id.get().is_some() {
            let caller = self.folder.clone().filter(|_| kind.is("subagent"));
            return Ok(Line::Side(FileFacts { caller, ..header.facts() }));
        }
        let mut plainer = String::new();
        Ok(self.message(&fields(line, &mut plainer)?))
    }

    /// Reads a line that contains one message. The message is new, changed, or repeated with or
    /// without additions. A repetition without additions, and a line without an id or a type, is no
    /// message of the history.
    fn message(&mut self, message: &Message<'_>) -> Line {
        let (Some(id), Some(kind)) = (message.id.get(), message.kind.get()) else {
            return Line::Side(FileFacts::default());
        };
        let summary = MessageSummary::of(message);
        let fingerprint = summary.fingerprint(kind);
        let record = match self.history.in_list(id) {
            Some(at) if self.history.fingerprint(at) == Some(fingerprint) => {
                match self.growth(at, message, &summary) {
                    Some(record) => record,
                    None => return Line::Side(FileFacts::default()),
                }
            }
            // The message changed, so the new version is a branch. The messages after the old
            // version remain the current list.
            Some(at) => {
                let stays = (at != self.history.tip()).then(|| self.history.tip());
                let record = self.add(self.history.parent(at), message, &summary);
                stays.into_iter().for_each(|tip| self.history.go_to(tip));
                record
            }
            None => self.add(self.history.tip(), message, &summary),
        };
        Line::Record(Box::new(record))
    }

    /// Reads a complete list of messages, which becomes the current conversation. Returns a record
    /// for each message that is new or changed, with its byte range in `text`.
    fn list(&mut self, text: &str, listed: &[&RawValue]) -> Vec<(Range<usize>, Record)> {
        let mut records = Vec::new();
        let mut at = START;
        let mut last: Option<String> = None;
        for raw in listed {
            let Ok(message) = serde_json::from_str::<Message<'_>>(raw.get()) else { continue };
            let (Some(id), Some(kind)) = (message.id.get(), message.kind.get()) else { continue };
            let summary = MessageSummary::of(&message);
            // When Gemini CLI rewrites the list, it splits a message with calls into a message and
            // its `_response`. The message contains the results too, so the `_response` is skipped.
            if summary.only_results && last.as_deref() == id.strip_suffix("_response") {
                continue;
            }
            last = Some(id.to_owned());
            let existing = self.history.child(at, id);
            if let Some(existing) = existing
                && self.history.fingerprint(existing) == Some(summary.fingerprint(kind))
            {
                at = existing;
                continue;
            }
            // A file that another program wrote has no context of Gemini CLI. Put before messages that
            // were read, it would be the beginning of another conversation.
            if at == START && !self.history.is_empty() && is_session_context(&summary.text) {
                continue;
            }
            let Some(range) = range(text, raw.get()) else { continue };
            records.push((range, self.add(at, &message, &summary)));
            at = self.history.tip();
        }
        self.history.go_to(at);
        records
    }

    /// Adds a message after the message `parent`, and returns its record. The new message becomes
    /// the last one of the current conversation.
    fn add(&mut self, parent: At, message: &Message<'_>, summary: &MessageSummary) -> Record {
        let kind = message.kind.get().unwrap_or_default();
        let answered = self.history.calls(parent).is_some();
        let behind = self.history.behind(parent);
        let at = self.history.add(
            parent,
            message.id.get().unwrap_or_default(),
            summary.fingerprint(kind),
        );
        if let Some(calls) = summary.calls_fingerprint() {
            self.history.set_calls(at, calls);
        }
        self.history.go_to(at);
        self.history.set_written(at);
        let mut record = record(message, summary, kind, answered);
        record.parent = behind;
        record.key = Some(key(at));
        record
    }

    /// Returns a record for the tool calls or the results of tool calls that a repeated message
    /// adds to its first version. The record follows the last message of the current conversation.
    /// Returns `None` if nothing was added.
    fn growth(
        &mut self,
        at: At,
        message: &Message<'_>,
        summary: &MessageSummary,
    ) -> Option<Record> {
        let calls = summary.calls_fingerprint()?;
        let before = self.history.calls(at);
        if before == Some(calls) {
            return None;
        }
        self.history.set_calls(at, calls);
        let tip = self.history.tip();
        let behind = self.history.behind(tip);
        self.history.set_written(tip);
        let kind = if before.is_none() { EventType::TOOL_CALL } else { EventType::TOOL_RESULT };
        Some(Record {
            parent: behind,
            native_id: (at == tip).then(|| message.id.to_owned()).flatten(),
            key: (at == tip).then(|| key(at)),
            effect: Effect { starts_turn: false, calls: summary.tool_calls.clone() },
            ..new(kind, time::from_text(&message.timestamp))
        })
    }

    /// Moves the conversation back to the position before the message `id`, or to the start if
    /// there is no such message. Returns a record of this step, or no record if the conversation is
    /// already there. With this record, the log contains both the abandoned messages and the
    /// position at which the agent would resume.
    fn rewind(&mut self, id: &str) -> Line {
        let to = self.history.in_list(id).map_or(START, |at| self.history.parent(at));
        if to == self.history.tip() {
            return Line::Side(FileFacts::default());
        }
        let parent = self.history.behind(to);
        self.history.go_to(to);
        self.history.set_written(to);
        let kind = EventType::extension(super::NAME, "rewind");
        Line::Record(Box::new(Record { parent, ..new(kind, None) }))
    }

    fn document(&mut self, text: &str) -> Line {
        let text = &*without_lone_surrogates(text);
        let mut found = Document::read(text, "messages");
        let of_session = found.has_list && found.field("sessionId").is_some();
        if !of_session && !found.items.iter().any(|item| has_type(item)) {
            return self.checkpoint(text);
        }
        let records = self.list(text, &found.items);
        let header = Header {
            session_id: Text::from(found.text("sessionId")),
            start_time: Text::from(found.text("startTime")),
            summary: Text::from(found.text("summary")),
            messages: None,
        };
        Line::Several(Several { records, facts: header.facts(), damage: found.damage.take() })
    }

    /// Reads a conversation that the user saved. It is a list of messages in the form of Google's
    /// API.
    fn checkpoint(&self, text: &str) -> Line {
        let found = Document::read(text, "history");
        let mut records = Vec::new();
        for raw in &found.items {
            let Ok(message) = serde_json::from_str::<Message<'_>>(raw.get()) else { continue };
            let kind = match message.role.get() {
                Some("user") => "user",
                Some("model") => "gemini",
                _ => continue,
            };
            let record = record(&message, &MessageSummary::of(&message), kind, false);
            records.extend(range(text, raw.get()).map(|range| (range, record)));
        }
        let facts = FileFacts { title: self.tag.clone(), ..FileFacts::default() };
        Line::Several(Several { records, facts, damage: found.damage })
    }
}

impl LineReader for Reader {
    fn read(&mut self, line: &str) -> Line {
        self.history.begin_line();
        if self.is_document {
            return self.document(line);
        }
        self.line(line).unwrap_or_else(Line::Damage)
    }

    fn memory(&self) -> Option<String> {
        self.history.memory()
    }

    fn memory_before(&self) -> Option<String> {
        self.history.memory_before()
    }
}

fn has_type(raw: &RawValue) -> bool {
    serde_json::from_str::<Message<'_>>(raw.get()).is_ok_and(|message| message.kind.get().is_some())
}

/// Returns the record of a message of type `kind`. `answered` means that the message before this
/// one already contains the tool results that this message contains.
fn record(message: &Message<'_>, summary: &MessageSummary, kind: &str, answered: bool) -> Record {
    let evidence = |name: &str| (EventType::extension(super::NAME, name), Class::Evidence);
    let (kind, class) = match kind {
        "user" if summary.only_results && answered => evidence("tool_response"),
        "user" if summary.only_results => (EventType::TOOL_RESULT, Class::Conversation),
        "user" => (EventType::USER_MESSAGE, Class::Conversation),
        "gemini" => (EventType::ASSISTANT_MESSAGE, Class::Conversation),
        other => (EventType::extension(super::NAME, other), Class::Audit),
    };
    let context = kind == EventType::USER_MESSAGE && is_session_context(&summary.text);
    let calls = match class {
        Class::Conversation => [&*summary.calls, &*summary.tool_calls].concat(),
        _ => Vec::new(),
    };
    let starts_turn = kind == EventType::USER_MESSAGE && summary.says;
    let cwd = if context { folder(&summary.text) } else { None };
    Record {
        native_id: message.id.to_owned(),
        class,
        effect: Effect { starts_turn, calls },
        leaf: class == Class::Conversation,
        facts: FileFacts { cwd, ..FileFacts::default() },
        ..new(kind, time::from_text(&message.timestamp))
    }
}

fn new(kind: EventType, ts: Option<jiff::Timestamp>) -> Record {
    Record { ts, ..Record::of(kind) }
}
