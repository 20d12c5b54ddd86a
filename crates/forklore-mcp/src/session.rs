//! A session in one line of an answer.

use forklore_api::Session;
use forklore_core::Header;
use forklore_engine::Engine;
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::Quoted;

/// The maximum length of a title, in characters.
const TITLE: usize = 160;
/// The maximum length of a path, in characters.
const PATH: usize = 300;

/// A session: what it is about, and how to name it.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SessionLine {
    /// The id. Pass it as `session` to other tools.
    pub(crate) session_id: String,
    /// A short name, unique in the family (a first session and all its forks).
    pub(crate) label: String,
    /// root, branch (a fork) or delegate (the session of a sub-agent).
    pub(crate) kind: &'static str,
    /// The session that this one was forked from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) parent_session_id: Option<String>,
    /// The title, or else what a person typed first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) untrusted_title: Option<Quoted>,
    /// The agent that wrote the session. Absent for forklore's own chat.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) agent: Option<String>,
    /// The folder in which the session worked.
    pub(crate) untrusted_workspace: Quoted,
    /// When the session was last written to.
    pub(crate) updated: String,
    /// The number of turns, with inherited ones.
    pub(crate) turns: u64,
    /// The number of messages, with inherited ones.
    pub(crate) messages: u64,
    /// Whether a program runs the session now.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) running: bool,
}

impl SessionLine {
    pub(crate) fn of(engine: &Engine, header: &Header) -> Self {
        let Session { title, first_words, .. } = engine.described(header);
        Self {
            session_id: header.id.to_string(),
            label: header.label.to_string(),
            kind: header.kind.as_str(),
            parent_session_id: header.parent_id.as_ref().map(ToString::to_string),
            untrusted_title: title.or(first_words).map(|title| Quoted::line(&title, TITLE)),
            agent: header.dialect.clone(),
            untrusted_workspace: path(header.workspace.as_str()),
            updated: header.updated.to_string(),
            turns: header.counts.turns,
            messages: header.counts.index,
            running: engine.is_leased(header),
        }
    }
}

/// Quotes a title or other short text of a session.
pub(crate) fn title(text: &str) -> Quoted {
    Quoted::line(text, TITLE)
}

/// Quotes a path.
pub(crate) fn path(text: &str) -> Quoted {
    Quoted::line(text, PATH)
}
