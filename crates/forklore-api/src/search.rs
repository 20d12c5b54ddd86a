//! Types of `search` and `blame`: what to find, and what was found.

use std::str::FromStr;

use forklore_core::report::Problem;
use forklore_core::workspace::Workspace;
use forklore_core::{EventId, Label, Role, SessionId};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// The request of `search`: the words to find, and conditions on the sessions and messages to
/// search. A condition that is `null` excludes nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Search {
    /// What to find. A hit contains all words, in any order: `retry backoff`. `"..."` is a phrase,
    /// `back*` the beginning of a word, and `regex:` begins a regular expression that extends to
    /// the end of the query.
    pub query: String,
    /// The folder whose sessions are searched. `null` searches the sessions of all folders.
    #[serde(default)]
    pub workspace: Option<Workspace>,
    /// Finds only records of this agent, such as `claude`, or `forklore` for forklore's own.
    #[serde(default)]
    pub agent: Option<String>,
    /// Finds only messages of this role.
    #[serde(default)]
    pub role: Option<Role>,
    /// Finds only calls and results of the tool with this name.
    #[serde(default)]
    pub tool: Option<String>,
    /// Searches only this part of messages and sessions.
    #[serde(default)]
    pub kind: Option<HitKind>,
    /// Finds only what was written at or after this time.
    #[serde(default)]
    pub since: Option<Timestamp>,
    /// The largest number of hits. 0 means the most that the search index allows.
    #[serde(default = "limit")]
    pub limit: usize,
    /// The field `next` of an earlier answer to the same request. The new answer then begins after
    /// the last hit of the earlier answer. `null` begins with the best hit. The position is a
    /// number of hits: if hits appear or vanish between the two requests, a hit may be repeated or
    /// skipped.
    #[serde(default)]
    pub after: Option<String>,
}

fn limit() -> usize {
    Search::LIMIT
}

impl Search {
    /// The default limit for the number of hits.
    pub const LIMIT: usize = 20;

    /// Creates a request that searches all sessions for `query`.
    #[must_use]
    pub fn of(query: impl Into<String>) -> Self {
        Self {
            query: query.into(),
            workspace: None,
            agent: None,
            role: None,
            tool: None,
            kind: None,
            since: None,
            limit: Self::LIMIT,
            after: None,
        }
    }
}

/// The part of a message or of a session in which words were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum HitKind {
    /// The text of a message, or the name of an attachment.
    Text,
    /// The reasoning of a model.
    Reasoning,
    /// A tool call: the name of the tool and its arguments.
    Call,
    /// The result of a tool call.
    Result,
    /// The title of a session.
    Title,
    /// The label of a session.
    Label,
    /// A summary: a compaction of the history, or the summary of a branch.
    Summary,
}

/// The answer of `search`: the hits, the best first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SearchAnswer {
    /// The hits, the most relevant first. Of equally relevant hits, the latest comes first.
    pub hits: Vec<Hit>,
    /// Whether there may be further hits.
    pub more: bool,
    /// The value of [`Search::after`] in the request for the hits that follow. Absent if no hits
    /// follow, or if the search index returns no more hits for one query.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// The problems of sessions that could not be read completely. The unread parts were not
    /// searched.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Problem>,
}

/// A message, a title or a label that `search` or `blame` found. A message that several sessions
/// share is one hit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Hit {
    /// The session that wrote the message. If that session was deleted: a session that still
    /// inherits the message. For a title or a label: its session.
    pub session_id: SessionId,
    /// The id of the event. `null` for a title or a label.
    pub event_id: Option<EventId>,
    /// The log position of the event in the session `session_id`. `null` for a title or a label.
    pub seq: Option<u64>,
    /// The conversation index of the message, from 0. `null` for a title or a label.
    pub index: Option<u64>,
    /// The number of the turn, from 1. `null` for a title or a label, and before the first turn.
    pub turn: Option<u64>,
    /// The part of the message or session that matches the query best. If several parts match
    /// equally well: the first of them in the order text, reasoning, call, result, title, label,
    /// summary.
    pub kind: HitKind,
    /// The role of the message. `null` for a title or a label.
    pub role: Option<Role>,
    /// The name of the tool, if the hit is a tool call or a result. `null` for other hits, and if
    /// the tool is unknown.
    pub tool: Option<String>,
    /// When the event was written. For a title or a label, when the session was last written to.
    pub ts: Timestamp,
    /// The label of the session.
    pub label: Label,
    /// The title of the session. `null` if it has none.
    pub title: Option<String>,
    /// The folder of the session.
    pub workspace: Workspace,
    /// The agent that wrote the record; `forklore` for forklore's own records.
    pub agent: String,
    /// The words that were found, with the text around them.
    pub snippet: Snippet,
    /// The relevance. A hit with a larger number is more relevant. The numbers of different queries
    /// cannot be compared.
    pub score: f64,
    /// The sessions whose history contains the event, at most 20: first the session of the hit,
    /// then its descendants.
    pub branches: Vec<HitBranch>,
    /// The number of sessions whose history contains the event.
    pub branch_count: u64,
    /// The original of the hit's session, if the hit's session is a copy: it repeats the beginning
    /// of the original. Absent if the event is not in the repeated part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy_of: Option<SessionId>,
}

/// A session whose history contains an event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HitBranch {
    /// The id of the session.
    pub session_id: SessionId,
    /// The label of the session.
    pub label: Label,
}

/// A piece of a text, with the ranges to highlight in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Snippet {
    /// The piece of text, in which each run of white space is one space.
    pub text: String,
    /// Whether text before the piece was left out.
    pub cut_before: bool,
    /// Whether text after the piece was left out.
    pub cut_after: bool,
    /// The ranges of the text that the query matches, in ascending order.
    pub highlights: Vec<Highlight>,
}

/// A range of a text, in Unicode code points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Highlight {
    /// The number of code points before the range.
    pub start: usize,
    /// The number of code points before the end of the range.
    pub end: usize,
}

impl HitKind {
    /// All kinds. If several parts match a query equally well, a hit has the kind that comes first
    /// in this list.
    pub const ALL: [Self; 7] = [
        Self::Text,
        Self::Reasoning,
        Self::Call,
        Self::Result,
        Self::Title,
        Self::Label,
        Self::Summary,
    ];

    /// Returns the name by which JSON refers to this kind.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Reasoning => "reasoning",
            Self::Call => "call",
            Self::Result => "result",
            Self::Title => "title",
            Self::Label => "label",
            Self::Summary => "summary",
        }
    }
}

/// The error for a string that is not the name of a [`HitKind`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected one of text, reasoning, call, result, title, label, summary")]
pub struct NotAHitKind;

impl FromStr for HitKind {
    type Err = NotAHitKind;

    fn from_str(text: &str) -> Result<Self, NotAHitKind> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text).ok_or(NotAHitKind)
    }
}

/// The request of `blame`: finds the tool calls that name a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Blame {
    /// The absolute path of the file. It need not exist.
    pub path: String,
    /// Finds only calls that were written at or after this time. `null` finds calls of any time.
    #[serde(default)]
    pub since: Option<Timestamp>,
    /// The largest number of calls. 0 means the most that the search index allows.
    #[serde(default = "limit")]
    pub limit: usize,
}

impl Blame {
    /// Creates a request for the calls that name the file `path`.
    #[must_use]
    pub fn of(path: impl Into<String>) -> Self {
        Self { path: path.into(), since: None, limit: Search::LIMIT }
    }
}

/// The answer of `blame`: the tool calls that name a file, the latest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BlameAnswer {
    /// The absolute path of the file.
    pub path: String,
    /// The calls, the latest first. Each is a hit of the kind `call`, with the score 0.
    pub hits: Vec<Hit>,
    /// Whether there are further calls.
    pub more: bool,
    /// The problems of sessions that could not be read completely.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Problem>,
}
