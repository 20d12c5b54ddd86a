//! Types of `log`, `replay`, `inspect` and `diff`: the contents of sessions.

use std::collections::BTreeMap;

use forklore_core::{
    Class, Content, Data, EventId, EventType, Label, Message, Origin, Role, Selector, SessionId,
    Usage,
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// The range of events that a `log` request returns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct LogRange {
    /// The first log position to return, from 0.
    pub from: u64,
    /// The last log position to return (inclusive). `null` returns the events up to the end of the
    /// log.
    pub to: Option<u64>,
    /// Whether to return only events that the session wrote itself, without inherited ones.
    pub own: bool,
}

/// One line of the output of `log`: an event as it is stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EventLine {
    /// The id of the event.
    pub id: EventId,
    /// The id of the session that was read. This session may have inherited the event.
    pub session_id: SessionId,
    /// The parent of the session that was read. `null` for a root.
    pub parent_id: Option<SessionId>,
    /// The id of the root of the session's family (a root with all its descendants).
    pub root_id: SessionId,
    /// The log position of the event, in the session that was read.
    pub seq: u64,
    /// When the event happened.
    pub ts: Timestamp,
    /// The event type.
    #[serde(rename = "type")]
    pub kind: EventType,
    /// The event class, which decides whether forks inherit the event. Absent if it is the default
    /// class of the type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<Class>,
    /// The session and log position where the event was first written. Present only on events that
    /// the session inherits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// The name of the agent in whose format the event is stored. Present only on imported events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialect: Option<String>,
    /// The payload of the event. Strings and numbers are as they were first written.
    pub data: Data,
}

/// The part of a conversation that a `replay` request returns. By default, the whole conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReplayRange {
    /// What the part begins with: a turn, a message or another event. `None` begins with the first
    /// message.
    pub from: Option<Selector>,
    /// The position at which the part ends. `None` reads to the end.
    pub up_to: Option<Selector>,
    /// How many turns to return, counted back from the end of the part. `None` returns the whole
    /// part.
    pub last: Option<u64>,
}

/// One line of the output of `replay`: an event of the conversation. All agents' events have the
/// same form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Record {
    /// The number of the event among the session's conversation events, from 0.
    pub index: u64,
    /// The log position of the event in the session that was read.
    pub seq: u64,
    /// The role of the message.
    pub role: Role,
    /// The content of the message: a string or a list of parts.
    pub content: Content,
    /// Whether the message was interrupted. `content` is then incomplete.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
    /// The current label of the session that wrote the event. `null` if the store no longer has
    /// that session or cannot read its header.
    pub branch: Option<Label>,
    /// The session and log position where the event was first written, and its id.
    pub origin: RecordOrigin,
    /// When the event happened. Not part of the JSON.
    #[serde(skip)]
    pub ts: Timestamp,
}

/// The id of an event, and the session and log position where the event was first written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RecordOrigin {
    /// The session that wrote the event.
    pub session_id: SessionId,
    /// The log position of the event in the session that wrote it.
    pub seq: u64,
    /// The id of the event.
    pub id: EventId,
}

/// The answer of `inspect`: the messages of a session as a model would receive them.
///
/// In JSON, `messages` is always a list. In Rust, it may be an iterator, which reads the messages
/// one by one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Inspection<Sent = Vec<Message>> {
    /// The messages that the model would receive, in order.
    pub messages: Sent,
    /// Whether every tool call has a result in the log. If `false`, `inspect` added artificial
    /// results to the messages.
    pub balanced: bool,
    /// The number of tool calls without a result in the log. `inspect` adds an artificial result
    /// for each.
    pub open_results: usize,
    /// The number of artificial tool results: those in the log and those that `inspect` added.
    pub synthetic_results: usize,
    /// The number of events, messages and parts of messages that the model would not receive, by
    /// their type. A part counts by its own type (`reasoning` or `tool_result`), whatever the type
    /// of the event that contains it.
    pub excluded: BTreeMap<String, u64>,
    /// The sub-agents that an ancestor of the session had started, and that had not ended at the
    /// cut (the position where the inherited history ends). Such a sub-agent is detached: it
    /// belongs to the ancestor, and this session never waits for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub detached_subagents: Vec<DetachedSubagent>,
}

/// A sub-agent of an ancestor. The sub-agent had not ended at the cut (the position where the
/// inherited history ends).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DetachedSubagent {
    /// The session of the sub-agent.
    pub session_id: SessionId,
    /// The ancestor that started the sub-agent, and to which it reports.
    pub owner_session_id: SessionId,
    /// The log position, in the session that was read, of the event that reports the sub-agent's
    /// start.
    pub seq: u64,
}

/// The answer of `diff`: compares the conversation events of two sessions.
///
/// In JSON, `only_a` and `only_b` are always lists. In Rust, they may be iterators, which read the
/// records one by one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Difference<Alone = Vec<Record>> {
    /// The last event that both sessions have in common. `null` if they have no event in common.
    pub ancestor: Option<Ancestor>,
    /// The number of conversation events, from the beginning, that both sessions have in common.
    pub common: u64,
    /// The conversation events of the first session that come after the events that both sessions
    /// have in common.
    pub only_a: Alone,
    /// The conversation events of the second session that come after the events that both sessions
    /// have in common.
    pub only_b: Alone,
}

/// The answer of `diff --stat`: counts what each of two sessions has alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DifferenceStats {
    /// The last event that both sessions have in common. `null` if they have no event in common.
    pub ancestor: Option<Ancestor>,
    /// The number of conversation events, from the beginning, that both sessions have in common.
    pub common: u64,
    /// What the first session has alone.
    pub a: SideStats,
    /// What the second session has alone.
    pub b: SideStats,
}

/// Counts of what one of two compared sessions has alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SideStats {
    /// The compared session.
    pub session_id: SessionId,
    /// The current label of the session.
    pub label: Label,
    /// The number of conversation events that only this session has.
    pub messages: u64,
    /// The number of turns that begin in the events that only this session has.
    pub turns: u64,
    /// The number of tool calls in the events that only this session has.
    pub tool_calls: u64,
    /// The model usage (tokens and cost) in the events that only this session has. 0 where they
    /// report none.
    pub usage: Usage,
    /// The first 1,000 files that the tool calls change by their arguments, in the order of their
    /// first change. A file that a command changes is not included.
    pub files: Vec<String>,
}

/// The last event that two sessions have in common. The fields name the session and log position
/// where the event was first written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Ancestor {
    /// The session that wrote the event.
    pub session_id: SessionId,
    /// The number of the event among the conversation events of a session, from 0. Both sessions
    /// give the event the same number.
    pub index: u64,
    /// The log position of the event in the session that wrote it.
    pub seq: u64,
}
