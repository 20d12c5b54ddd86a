//! The fields of opencode's messages and sessions, and the properties derived from them.

use forklore_core::call::{CallStep, OpenCall};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::lenient::{Flag, MessageContent, Number, Object, Text};

/// A message with its parts, the record of a session, or a list of deleted messages.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct OwnMessage<'a> {
    #[serde(borrow)]
    pub(super) info: Object<Info<'a>>,
    #[serde(borrow)]
    pub(super) parts: MessageContent<Part<'a>>,
    /// The ids of deleted messages.
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
    /// The id of the calling session, in the record of a session.
    #[serde(borrow, rename = "parentID")]
    pub(super) parent_id: Text<'a>,
    pub(super) time: Object<Times>,
    /// Whether a message of the assistant is the summary of a compaction.
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
    /// Parses an `info` object without parts.
    pub(super) fn of_info(info: &'a RawValue) -> Self {
        Self { info: serde_json::from_str(info.get()).unwrap_or_default(), ..Self::default() }
    }

    /// Checks whether this is the record of a session.
    pub(super) fn is_session(&self) -> bool {
        let Info { id, role, directory, title, time, .. } = &self.info.0;
        let about = directory.get().is_some() || title.get().is_some() || time.0.created.0 > 0.0;
        id.get().is_some() && role.get().is_none() && about
    }

    /// Checks whether this is the complete summary of a compaction.
    pub(super) fn is_summary(&self) -> bool {
        let info = &self.info.0;
        let finished = info.time.0.completed.0 > 0.0 && info.error.is_none();
        info.role.is("assistant") && info.summary.0 && finished
    }

    /// Checks whether the message requests a compaction.
    pub(super) fn asks_for_summary(&self) -> bool {
        self.parts.blocks().iter().any(|part| part.kind.is("compaction"))
    }

    /// Checks whether the user wrote the message.
    pub(super) fn is_of_person(&self) -> bool {
        self.parts.blocks().iter().any(|part| match part.kind.get() {
            Some("text") => !part.synthetic.0 && !part.ignored.0,
            Some("file" | "agent" | "subtask") => !part.synthetic.0,
            _ => false,
        })
    }

    /// Returns the steps of the message's calls: each call is opened, and closed if it has a
    /// result.
    pub(super) fn calls(&self) -> Vec<CallStep> {
        let tools = self.parts.blocks().iter().filter(|part| part.kind.is("tool"));
        let steps = tools.flat_map(|part| {
            let id = part.call_id.to_owned();
            let name = part.tool.to_owned().unwrap_or_default();
            let open = id.clone().map(|id| CallStep::Open(OpenCall { id, name }));
            let over = matches!(part.state.0.status.get(), Some("completed" | "error"));
            open.into_iter().chain(id.filter(|_| over).map(CallStep::Close))
        });
        steps.collect()
    }

    /// Returns a hash of the role, the texts, and the calls with their states, by which versions of
    /// a message are compared.
    pub(super) fn fingerprint(&self) -> u32 {
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
