//! The fields of Codex's lines that decide what a record is.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::usage::{Info, Tokens};
use crate::lenient::{Many, Number, Object, Text, Whole};

/// A line. The files of early 2025 have no envelope: their lines are items.
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

/// A payload, of whatever kind.
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
    #[serde(borrow)]
    pub(super) source: Object<Source<'a>>,
    pub(super) num_turns: Number,
    pub(super) info: Object<Info>,
    pub(super) usage: Object<Tokens>,
    pub(super) thread_token_usage: Option<Object<Tokens>>,
}

/// What Codex knows of a message beside its text.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct About<'a> {
    #[serde(borrow)]
    pub(super) content_item_kinds: Many<Text<'a>>,
}

/// Who began a session, where that was no person.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Source<'a> {
    #[serde(borrow)]
    pub(super) subagent: Object<Subagent<'a>>,
}

/// How a sub-agent came to be.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Subagent<'a> {
    #[serde(borrow)]
    pub(super) thread_spawn: Object<Spawn<'a>>,
}

/// Which conversation called it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Spawn<'a> {
    #[serde(borrow)]
    pub(super) parent_thread_id: Text<'a>,
}

/// Where a session begins inside another file.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct HistoryBase<'a> {
    #[serde(borrow)]
    pub(super) thread_id: Text<'a>,
    pub(super) end_ordinal_exclusive: Whole,
    pub(super) end_byte_offset: Whole,
}
