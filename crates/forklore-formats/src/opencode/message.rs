//! The fields of opencode's messages and sessions, and the properties derived from them.

use forklore_core::call::{CallStep, OpenCall};
use forklore_core::{Class, EventType};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::journal::JournalMessage;
use crate::author::Author;
use crate::lenient::{Flag, MessageContent, Number, Object, Text};
use crate::time;

/// The name of opencode's record format. It is defined here, because the parent module imports this
/// module.
pub(super) const NAME: &str = "opencode";

/// A record of opencode: a message with its parts, a description of a session, or a list of deleted
/// messages.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct OwnMessage<'a> {
    #[serde(borrow)]
    pub(super) info: Object<Info<'a>>,
    #[serde(borrow)]
    parts: MessageContent<Part<'a>>,
    /// The message, in the form of opencode's second version.
    #[serde(borrow)]
    message: Object<JournalMessage<'a>>,
    /// The ids of the messages that the user deleted. Absent in messages and descriptions of
    /// sessions.
    #[serde(borrow)]
    pub(super) deleted: Option<&'a RawValue>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Info<'a> {
    #[serde(borrow)]
    pub(super) id: Text<'a>,
    #[serde(borrow)]
    pub(super) role: Text<'a>,
    #[serde(borrow)]
    pub(super) directory: Text<'a>,
    #[serde(borrow)]
    pub(super) title: Text<'a>,
    /// The id of the session that called this one as a sub-agent. Only records that describe a
    /// session have it.
    #[serde(borrow, rename = "parentID")]
    pub(super) parent_id: Text<'a>,
    pub(super) time: Object<Times>,
    /// Whether this message of the model is the summary of a compaction.
    summary: Flag,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) revert: Object<Revert<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Times {
    pub(super) created: Number,
    completed: Number,
}

/// What the reader needs of a message, in whichever form opencode wrote it.
#[derive(Debug)]
pub(super) struct MessageSummary {
    pub(super) id: Option<String>,
    pub(super) kind: EventType,
    pub(super) class: Class,
    pub(super) starts_turn: bool,
    pub(super) calls: Vec<CallStep>,
    pub(super) ts: Option<Timestamp>,
    /// A hash of the content. It shows whether two versions of the message differ.
    pub(super) fingerprint: u32,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Revert<'a> {
    #[serde(borrow, rename = "messageID")]
    pub(super) message_id: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Part<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    text: Text<'a>,
    synthetic: Flag,
    ignored: Flag,
    #[serde(borrow, rename = "callID")]
    call_id: Text<'a>,
    #[serde(borrow)]
    tool: Text<'a>,
    #[serde(borrow)]
    state: Object<State<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct State<'a> {
    #[serde(borrow)]
    status: Text<'a>,
}

impl<'a> OwnMessage<'a> {
    /// Parses the field `info` of a message or a document. The parts remain empty.
    pub(super) fn of_info(info: &'a RawValue) -> Self {
        Self { info: serde_json::from_str(info.get()).unwrap_or_default(), ..Self::default() }
    }

    /// Checks whether this record describes a session, and is no message.
    pub(super) fn is_session(&self) -> bool {
        let Info { id, role, directory, title, time, .. } = &self.info.0;
        let about = directory.get().is_some() || title.get().is_some() || time.0.created.0 > 0.0;
        id.get().is_some() && role.get().is_none() && about
    }

    /// Returns what the reader needs of the message. Returns `None` if the record is no message.
    pub(super) fn summary(&self) -> Option<MessageSummary> {
        if let Some(summary) = self.message.0.summary() {
            return Some(summary);
        }
        let info = &self.info.0;
        let (kind, class) = self.sort(info.role.get()?);
        let calls = if class == Class::Conversation { self.calls() } else { Vec::new() };
        Some(MessageSummary {
            id: info.id.to_owned(),
            starts_turn: kind == EventType::USER_MESSAGE && self.is_of_person(),
            kind,
            class,
            calls,
            ts: time::from_millis(info.time.0.created),
            fingerprint: self.fingerprint(),
        })
    }

    fn sort(&self, role: &str) -> (EventType, Class) {
        match role {
            "user" if self.asks_for_summary() => {
                (EventType::extension(NAME, "compaction"), Class::Evidence)
            }
            "user" => (EventType::USER_MESSAGE, Class::Conversation),
            "assistant" if self.is_summary() => (EventType::HISTORY_COMPACTION, Class::Context),
            "assistant" => (EventType::ASSISTANT_MESSAGE, Class::Conversation),
            role => (EventType::extension(NAME, role), Class::Audit),
        }
    }

    /// Checks whether this message is the summary of a compaction, and is complete and without an
    /// error.
    fn is_summary(&self) -> bool {
        let info = &self.info.0;
        let finished = info.time.0.completed.0 > 0.0 && info.error.is_none();
        info.role.is("assistant") && info.summary.0 && finished
    }

    /// Checks whether this message asks the model for a summary, with which a compaction begins.
    fn asks_for_summary(&self) -> bool {
        self.parts.blocks().iter().any(|part| part.kind.is("compaction"))
    }

    /// Checks whether the user wrote at least a part of this message.
    fn is_of_person(&self) -> bool {
        self.parts.blocks().iter().any(|part| match part.kind.get() {
            Some("text") if part.synthetic.0 || part.ignored.0 => false,
            Some("text") => part.text.get().is_none_or(|text| Author::of(text) != Author::Agent),
            Some("file" | "agent" | "subtask") => !part.synthetic.0,
            _ => false,
        })
    }

    /// Returns the tool calls that this message opens, and those that it closes because they have a
    /// result.
    fn calls(&self) -> Vec<CallStep> {
        let tools = self.parts.blocks().iter().filter(|part| part.kind.is("tool"));
        let steps = tools.flat_map(|part| {
            call_steps(part.call_id.to_owned(), part.tool.to_owned(), part.state.0.status.get())
        });
        steps.collect()
    }

    /// Returns a hash of the message's role, its texts, and its tool calls with their states. It
    /// shows whether two versions of the message differ.
    fn fingerprint(&self) -> u32 {
        let mut hash = crc32fast::Hasher::new();
        hash.update(self.info.0.role.get().unwrap_or_default().as_bytes());
        for part in self.parts.blocks() {
            for text in [&part.kind, &part.text, &part.call_id, &part.state.0.status] {
                hash.update(text.get().unwrap_or_default().as_bytes());
            }
        }
        hash.finalize()
    }
}

/// Returns the steps of a tool call with this state: the message opens the call, and closes it if
/// the call is over. A call without an id has no steps.
pub(super) fn call_steps(
    id: Option<String>,
    tool: Option<String>,
    status: Option<&str>,
) -> impl Iterator<Item = CallStep> + use<> {
    let name = tool.unwrap_or_default();
    let open = id.clone().map(|id| CallStep::Open(OpenCall { id, name }));
    let is_over = matches!(status, Some("completed" | "error"));
    open.into_iter().chain(id.filter(|_| is_over).map(CallStep::Close))
}
