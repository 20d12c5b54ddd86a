//! Parses the lines of a Qwen Code file. Each line is parsed once, and only the required values are
//! built.

use std::collections::BTreeMap;
use std::path::Path;

use forklore_core::agent_format::{FileFacts, Line, LineReader, Parent, Record};
use forklore_core::call::Effect;
use forklore_core::{Class, EventType};
use serde::Deserialize;

use super::paths;
use crate::gemini::message::{Message, MessageSummary};
use crate::lenient::{MessageContent, Object, Text, fields};
use crate::time;

/// Subtypes of records that describe the session or its artifacts. They do not belong to the
/// conversation: the record after such a record usually continues the record before it.
const OFF_CHAIN: [&str; 7] = [
    "custom_title",
    "managed_session_commit_v1",
    "managed_session_event_v1",
    "managed_session_header_v1",
    "session_artifact_event",
    "session_artifact_snapshot",
    "session_sources_snapshot",
];

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Fields<'a> {
    #[serde(borrow)]
    uuid: Text<'a>,
    #[serde(borrow, rename = "parentUuid")]
    parent: Text<'a>,
    #[serde(borrow)]
    session_id: Text<'a>,
    #[serde(borrow)]
    timestamp: Text<'a>,
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    subtype: Text<'a>,
    #[serde(borrow)]
    provenance: Text<'a>,
    #[serde(borrow)]
    cwd: Text<'a>,
    #[serde(borrow)]
    message: Object<Message<'a>>,
    #[serde(borrow)]
    system_payload: Object<Payload<'a>>,
    #[serde(borrow)]
    forked_from: Object<ForkedFrom<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Payload<'a> {
    #[serde(borrow)]
    custom_title: Text<'a>,
    #[serde(borrow)]
    parent_session_id: Text<'a>,
    compressed_history: MessageContent<Content>,
}

/// A message of a compressed history. None of its fields is needed here.
#[derive(Debug, Default, Deserialize)]
struct Content {}

/// The original of a copied record, in a session that is a fork of another.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ForkedFrom<'a> {
    #[serde(borrow)]
    session_id: Text<'a>,
}

/// The parents of the records that do not belong to the conversation ([`OFF_CHAIN`]), by the ids of
/// these records. Each parent is the nearest earlier record that belongs to the conversation.
type OffChain = BTreeMap<String, Option<String>>;

/// Reads the lines of one Qwen Code session file.
#[derive(Debug)]
pub(super) struct Reader {
    /// The session that called this file's sub-agent. `None` if the file is not that of a
    /// sub-agent.
    caller: Option<String>,
    cwd: Option<String>,
    off_chain: OffChain,
    /// The id of the record that the last line added to `off_chain`.
    added: Option<String>,
}

impl Reader {
    pub(super) fn new(path: &Path, memory: Option<&str>) -> Self {
        let off_chain = memory.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
        Self { caller: paths::caller(path), cwd: None, off_chain, added: None }
    }

    fn line(&mut self, fields: &Fields<'_>) -> Line {
        let facts = self.facts(fields);
        let Some(uuid) = fields.uuid.to_owned() else { return Line::Side(facts) };
        let parent = self.parent(fields);
        if fields.kind.is("system")
            && fields.subtype.get().is_some_and(|it| OFF_CHAIN.contains(&it))
        {
            self.off_chain.insert(uuid.clone(), parent);
            self.added = Some(uuid);
            return Line::Side(facts);
        }
        let summary = MessageSummary::of(&fields.message.0);
        let (kind, class) = sort(fields, &summary);
        let calls = if class == Class::Conversation { summary.calls } else { Vec::new() };
        let starts_turn = kind == EventType::USER_MESSAGE && summary.says && is_real(fields);
        Line::Record(Box::new(Record {
            native_id: Some(uuid),
            parent: parent.map_or(Parent::None, Parent::Id),
            ts: time::from_text(&fields.timestamp),
            class,
            effect: Effect { starts_turn, calls },
            only_results: kind == EventType::TOOL_RESULT,
            facts,
            ..Record::of(kind)
        }))
    }

    /// Returns the id of the record that this record continues. Skips records that do not belong to
    /// the conversation. Returns `None` if the record continues none.
    fn parent(&self, fields: &Fields<'_>) -> Option<String> {
        let parent = fields.parent.to_owned()?;
        self.off_chain.get(&parent).cloned().unwrap_or(Some(parent))
    }

    fn facts(&mut self, fields: &Fields<'_>) -> FileFacts {
        let payload = &fields.system_payload.0;
        let mut facts = FileFacts {
            title: payload.custom_title.to_owned().filter(|_| fields.subtype.is("custom_title")),
            copied_from: fields.forked_from.0.session_id.to_owned(),
            caller: self.caller.clone(),
            ..FileFacts::default()
        };
        if fields.cwd.get().is_some() && fields.cwd.get() != self.cwd.as_deref() {
            self.cwd = fields.cwd.to_owned();
            facts.cwd.clone_from(&self.cwd);
        }
        if fields.subtype.is("parent_session") {
            facts.caller = payload.parent_session_id.to_owned();
        }
        if facts.caller.is_some() {
            facts.created = time::from_text(&fields.timestamp);
        }
        facts
    }
}

impl LineReader for Reader {
    fn read(&mut self, line: &str) -> Line {
        self.added = None;
        match fields::<Fields<'_>>(line, &mut String::new()) {
            Ok(fields) => self.line(&fields),
            Err(why) => Line::Damage(why),
        }
    }

    fn memory(&self) -> Option<String> {
        memory(&self.off_chain)
    }

    fn memory_before(&self) -> Option<String> {
        let mut before = self.off_chain.clone();
        if let Some(added) = &self.added {
            before.remove(added);
        }
        memory(&before)
    }
}

fn memory(off_chain: &OffChain) -> Option<String> {
    if off_chain.is_empty() { None } else { serde_json::to_string(off_chain).ok() }
}

fn sort(fields: &Fields<'_>, summary: &MessageSummary) -> (EventType, Class) {
    let own = |kind: EventType| (kind.clone(), kind.class());
    let extension = |name: &str, class| (EventType::extension(super::NAME, name), class);
    match (fields.kind.get(), fields.subtype.get()) {
        // What was said in a call by voice is not sent to the model again.
        (_, Some("realtime_message")) => extension("realtime_message", Class::Evidence),
        (Some("user" | "tool_result"), _) if summary.only_results => own(EventType::TOOL_RESULT),
        (Some("tool_result"), _) => own(EventType::TOOL_RESULT),
        (Some("user"), _) => own(EventType::USER_MESSAGE),
        (Some("assistant"), _) => own(EventType::ASSISTANT_MESSAGE),
        (Some("system"), Some("chat_compression")) if is_compressed(fields) => {
            own(EventType::HISTORY_COMPACTION)
        }
        (kind, subtype) => extension(subtype.or(kind).unwrap_or("record"), Class::Audit),
    }
}

fn is_compressed(fields: &Fields<'_>) -> bool {
    matches!(fields.system_payload.0.compressed_history, MessageContent::Blocks(_))
}

/// Checks whether a person wrote the message, and not Qwen Code itself. Older versions of Qwen Code
/// do not state the author, but mark the messages that they wrote themselves with a subtype.
fn is_real(fields: &Fields<'_>) -> bool {
    match (fields.provenance.get(), fields.subtype.get()) {
        (Some(provenance), _) => provenance == "real_user",
        (None, subtype) => matches!(subtype, None | Some("mid_turn_user_message")),
    }
}
