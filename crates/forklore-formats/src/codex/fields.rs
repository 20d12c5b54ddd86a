//! The fields of Codex's lines that an import reads.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::usage::{Info, Tokens};
use crate::lenient::{Many, Number, Object, Text, Whole};

/// A line of a Codex file: an envelope (time, ordinal and type) with its payload. In files of early
/// 2025, a line has no envelope and is an [`Item`].
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Fields<'a> {
    #[serde(borrow)]
    pub(super) timestamp: Text<'a>,
    pub(super) ordinal: Whole,
    #[serde(borrow, rename = "type")]
    pub(super) kind: Text<'a>,
    #[serde(borrow)]
    pub(super) id: Text<'a>,
    #[serde(borrow)]
    pub(super) payload: Object<Item<'a>>,
}

/// The payload of a line of a Codex file. The struct has the fields of all types of payloads.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Item<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Text<'a>,
    #[serde(borrow)]
    pub(super) role: Text<'a>,
    #[serde(borrow)]
    pub(super) id: Text<'a>,
    #[serde(borrow)]
    pub(super) call_id: Text<'a>,
    #[serde(borrow)]
    pub(super) name: Text<'a>,
    #[serde(borrow)]
    pub(super) content: Option<&'a RawValue>,
    #[serde(borrow, rename = "internal_chat_message_metadata_passthrough")]
    pub(super) about: Object<About<'a>>,
    #[serde(borrow)]
    pub(super) timestamp: Text<'a>,
    #[serde(borrow)]
    pub(super) cwd: Text<'a>,
    #[serde(borrow)]
    pub(super) history_mode: Text<'a>,
    #[serde(borrow)]
    pub(super) history_base: Object<HistoryBase<'a>>,
    #[serde(borrow)]
    pub(super) forked_from_id: Text<'a>,
    #[serde(borrow)]
    pub(super) parent_thread_id: Text<'a>,
    /// The conversation that a person began. In a sub-agent's session, it differs from `id`.
    #[serde(borrow)]
    pub(super) session_id: Text<'a>,
    #[serde(borrow)]
    pub(super) source: Object<Source<'a>>,
    pub(super) num_turns: Number,
    pub(super) info: Object<Info>,
    pub(super) usage: Object<Tokens>,
    pub(super) thread_token_usage: Option<Object<Tokens>>,
}

/// Metadata that Codex adds to a message: the kind of each part, which shows who wrote the part.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct About<'a> {
    #[serde(borrow)]
    pub(super) content_item_kinds: Many<Text<'a>>,
}

/// The field `source` of a session's header. If the session is that of a sub-agent, it states how
/// the session was started.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Source<'a> {
    /// A [`Subagent`], or only the name of a built-in sub-agent, such as `review`.
    #[serde(borrow)]
    pub(super) subagent: Option<&'a RawValue>,
}

/// How the session of a sub-agent was started. `thread_spawn` names the conversation that started
/// it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Subagent<'a> {
    #[serde(borrow)]
    pub(super) thread_spawn: Object<Spawn<'a>>,
}

/// The conversation that started a sub-agent's session. `parent_thread_id` is its id.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Spawn<'a> {
    #[serde(borrow)]
    pub(super) parent_thread_id: Text<'a>,
}

/// The part of another file that this file continues, described by the end of that part.
/// `end_byte_offset` is in bytes, and `end_ordinal_exclusive` is the number of the part's last
/// record plus 1.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct HistoryBase<'a> {
    #[serde(borrow)]
    pub(super) thread_id: Text<'a>,
    pub(super) end_ordinal_exclusive: Whole,
    pub(super) end_byte_offset: Whole,
}
