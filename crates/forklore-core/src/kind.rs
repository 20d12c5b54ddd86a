//! Types of events, the class that decides what is inherited, and kinds of sessions
//! (docs/semantics.md, Types, classes, inheritance).

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::limits::TYPE_BYTES;

/// The class of an event, which decides whether forks inherit the event and whether the model sees
/// it. The class is fixed when the event is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// Messages, tool calls and tool results. Forks inherit them. Only they have a conversation
    /// index (their position among the events of this class).
    Conversation,
    /// Decisions and other facts about the conversation. Forks inherit them.
    Evidence,
    /// Compactions and summaries, which replace or explain a part of the conversation. Forks
    /// inherit them.
    Context,
    /// The record of a fork. Forks never inherit it.
    Lineage,
    /// Cost and failures of one session, and every event of an unknown type. Forks never inherit
    /// them.
    Audit,
}

impl Class {
    /// All classes, in the order of their [`Class::code`].
    pub const ALL: [Self; 5] =
        [Self::Conversation, Self::Evidence, Self::Context, Self::Lineage, Self::Audit];

    /// Checks whether a fork inherits events of this class that come before the cut.
    #[must_use]
    pub fn is_inherited(self) -> bool {
        matches!(self, Self::Conversation | Self::Evidence | Self::Context)
    }

    /// Checks whether events of this class are conversation events, the only events with a
    /// conversation index (the position among such events).
    #[must_use]
    pub fn is_conversation(self) -> bool {
        self == Self::Conversation
    }

    /// Returns the number, from 0 to 4, by which a store may encode the class.
    #[must_use]
    pub fn code(self) -> u8 {
        self as u8
    }

    /// Returns the class with this [`Class::code`]; `None` if no class has it.
    #[must_use]
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code)).copied()
    }
}

/// The type of an event: the name of one of forklore's own types, or any other valid name
/// (docs/semantics.md, Types, classes, inheritance).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventType(Cow<'static, str>);

/// The error for a string that is not a valid type name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a type has 1 to {TYPE_BYTES} of a-z, 0-9, `_`, `.`, `-` and begins with a letter")]
pub struct NotAType;

macro_rules! own_types {
    ($($constant:ident = $name:literal, $class:ident;)*) => {
        /// Constants for forklore's own event types. An event of any other type is stored under its
        /// original type name.
        impl EventType {
            $(#[doc = concat!("`", $name, "`")]
            pub const $constant: Self = Self(Cow::Borrowed($name));)*

            fn own(name: &str) -> Option<(Self, Class)> {
                match name { $($name => Some((Self::$constant, Class::$class)),)* _ => None }
            }
        }
    };
}

own_types! {
    SYSTEM_MESSAGE = "system_message", Conversation;
    USER_MESSAGE = "user_message", Conversation;
    ASSISTANT_MESSAGE = "assistant_message", Conversation;
    REASONING = "reasoning", Conversation;
    TOOL_CALL = "tool_call", Conversation;
    TOOL_RESULT = "tool_result", Conversation;
    PERMISSION_DECISION = "permission_decision", Evidence;
    WORKFLOW_EVENT = "workflow_event", Evidence;
    SKILL_ACTIVATION = "skill_activation", Evidence;
    SUBAGENT_EVENT = "subagent_event", Evidence;
    WORKSPACE_SNAPSHOT = "workspace_snapshot", Evidence;
    HISTORY_COMPACTION = "history_compaction", Context;
    BRANCH_SUMMARY = "branch_summary", Context;
    SESSION_FORK = "session_fork", Lineage;
    PROVIDER_USAGE = "provider_usage", Audit;
    TURN_FAILED = "turn_failed", Audit;
}

impl EventType {
    /// Returns the type `x.<owner>.<name>`, for a record that has none of forklore's own types.
    /// Upper case becomes lower case, and each other character that types do not allow becomes `_`.
    /// The result is truncated to [`TYPE_BYTES`] characters.
    #[must_use]
    pub fn extension(owner: &str, name: &str) -> Self {
        let plain = |c: char| match c.to_ascii_lowercase() {
            c @ ('a'..='z' | '0'..='9' | '_' | '.' | '-') => c,
            _ => '_',
        };
        let full = format!("x.{owner}.{name}");
        Self(Cow::Owned(full.chars().map(plain).take(TYPE_BYTES).collect()))
    }

    /// Returns the name of the event type.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Checks whether the event type is one of forklore's own. forklore parses the payloads of its
    /// own types.
    #[must_use]
    pub fn is_own(&self) -> bool {
        Self::own(&self.0).is_some()
    }

    /// Checks whether the name of the event type begins with `x.`. A writer may choose the class of
    /// such an event.
    #[must_use]
    pub fn is_extension(&self) -> bool {
        self.0.starts_with("x.")
    }

    /// Returns the default class of the type: [`Class::Audit`] for every type that is not
    /// forklore's own.
    #[must_use]
    pub fn class(&self) -> Class {
        Self::own(&self.0).map_or(Class::Audit, |(_, class)| class)
    }

    /// Checks whether only forklore itself may write events of this type, and applications may not
    /// append them (docs/semantics.md, Writing).
    #[must_use]
    pub fn is_reserved(&self) -> bool {
        *self == Self::SESSION_FORK || *self == Self::BRANCH_SUMMARY
    }
}

impl FromStr for EventType {
    type Err = NotAType;
    fn from_str(text: &str) -> Result<Self, NotAType> {
        if let Some((own, _)) = Self::own(text) {
            return Ok(own);
        }
        let ok = text.len() <= TYPE_BYTES
            && text.starts_with(|c: char| c.is_ascii_lowercase())
            && text.chars().all(|c| matches!(c, 'a'..='z' | '0'..='9' | '_' | '.' | '-'));
        if ok { Ok(Self(Cow::Owned(text.into()))) } else { Err(NotAType) }
    }
}

impl fmt::Display for EventType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for EventType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for EventType {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for EventType {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = Cow::<'de, str>::deserialize(d)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// How a session relates to its parent (docs/semantics.md, Words).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SessionKind {
    /// A session without a parent. Its id identifies the family (the root and all its descendants).
    Root,
    /// A child that inherits history from its parent and continues it.
    Branch,
    /// A child that inherits no history: a sub-agent with a fresh context.
    Delegate,
}
