//! Types of `fork`, which creates a child of a session: another continuation (branch) or a
//! sub-agent (delegate).

use std::collections::BTreeSet;
use std::path::PathBuf;

use forklore_core::workspace::Workspace;
use forklore_core::{Cut, Data, Label, Selector, SessionId, SessionKind, Strategy, ToolCallPolicy};
use serde::{Deserialize, Serialize};

use crate::Summarize;

/// The request of `fork`: creates a child session, which continues another session from a position
/// in its log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Fork {
    /// The session to fork.
    #[serde(rename = "parent_session_id")]
    pub parent: SessionId,
    /// The position in the parent's log at which the child begins. `null` means the end of the log
    /// or, while a turn runs in the parent, the position before this turn.
    pub at: Option<Selector>,
    /// The child's session id. `null` generates an id. With an explicit id, repeating the fork
    /// returns the existing child.
    pub id: Option<SessionId>,
    /// How an id is generated if `id` is `null`.
    #[serde(default)]
    pub id_style: IdStyle,
    /// Whether to refuse the fork if a session with the requested `id` exists, even if that session
    /// is exactly the requested child.
    #[serde(default)]
    pub must_be_new: bool,
    /// The child's label, unique in its family (a root with all its descendants). `null` derives a
    /// label from the child's id.
    pub label: Option<Label>,
    /// The child's title, for display. `null` gives it no title.
    pub title: Option<String>,
    /// The child's kind. A branch inherits the parent's history; a delegate (the session of a
    /// sub-agent) inherits none.
    #[serde(default = "branch")]
    pub kind: SessionKind,
    /// How the store represents the events that the child inherits: shared with the parent, or
    /// copied from it.
    #[serde(default)]
    pub strategy: Strategy,
    /// What happens to tool calls that have no result at the position where the child begins.
    #[serde(default)]
    pub tool_calls: ToolCallPolicy,
    /// The branch summary to record after the events that the child inherits. `null` records no
    /// summary.
    pub summarize: Option<Summarize>,
    /// The principal (user) for whom the child acts. `null` uses the parent's principal.
    pub principal: Option<String>,
    /// The child's permissions, which must be a subset of its parent's. `null` uses the parent's
    /// permissions.
    pub permissions: Option<BTreeSet<String>>,
    /// The child's workspace (folder). `null` uses the parent's workspace.
    pub workspace: Option<Workspace>,
    /// Metadata of the child, set by the application. forklore does not interpret it. `null` sets
    /// none.
    pub metadata: Option<Data>,
    /// Configuration of the child, set by the application. forklore does not interpret it. `null`
    /// sets none.
    pub config: Option<Data>,
    /// Whether the fork takes a conversation back to an earlier position. The store then records
    /// the fork as an operation, which can be undone.
    #[serde(default)]
    pub rewind: bool,
    /// Whether to return only the plan for the child, and write nothing.
    #[serde(default)]
    pub dry_run: bool,
}

/// How the id of a fork is generated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum IdStyle {
    /// A UUIDv8 that begins with random digits and ends with the time.
    #[default]
    Uuid,
    /// The form of the agent ak-coder: `fork-PARENT-MILLISECONDS`, with the parent's id and the
    /// Unix time. If the result is too long for a session id, the first 16 hex digits of the sha256
    /// of the parent's id take the place of the parent's id.
    AkCoder,
}

impl IdStyle {
    /// Returns the name by which JSON and the program refer to this style.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Uuid => "uuid",
            Self::AkCoder => "ak-coder",
        }
    }
}

impl std::fmt::Display for IdStyle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The error for a string that is not the name of an [`IdStyle`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected one of uuid, ak-coder")]
pub struct NotAnIdStyle;

impl std::str::FromStr for IdStyle {
    type Err = NotAnIdStyle;

    fn from_str(text: &str) -> Result<Self, NotAnIdStyle> {
        [Self::Uuid, Self::AkCoder]
            .into_iter()
            .find(|style| style.as_str() == text)
            .ok_or(NotAnIdStyle)
    }
}

fn branch() -> SessionKind {
    SessionKind::Branch
}

impl Fork {
    /// Creates a request that forks `parent` at its end. All other fields have their defaults.
    #[must_use]
    pub fn of(parent: SessionId) -> Self {
        Self {
            parent,
            at: None,
            id: None,
            id_style: IdStyle::default(),
            must_be_new: false,
            label: None,
            title: None,
            kind: SessionKind::Branch,
            strategy: Strategy::default(),
            tool_calls: ToolCallPolicy::default(),
            summarize: None,
            principal: None,
            permissions: None,
            workspace: None,
            metadata: None,
            config: None,
            rewind: false,
            dry_run: false,
        }
    }

    /// Sets the position in the parent's log at which the child begins. Returns the changed
    /// request.
    #[must_use]
    pub fn at(mut self, at: Selector) -> Self {
        self.at = Some(at);
        self
    }
}

/// The answer of `fork`: describes the created child session or, in a dry run, the plan for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Forked {
    /// Whether this call created the child. `false` for dry runs, and if the child already existed.
    pub recorded: bool,
    /// Whether an identical child with the requested id already existed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub existing: bool,
    /// Whether this answer is only a plan: nothing was written.
    pub dry_run: bool,
    /// The shell command that creates exactly the planned child. Present only in dry runs of the
    /// command-line program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apply: Option<String>,
    /// The id of the parent session.
    pub parent_session_id: SessionId,
    /// The id of the child session.
    pub child_session_id: SessionId,
    /// The id of the root of the family (a root with all its descendants).
    pub root_session_id: SessionId,
    /// The child's kind: branch, or delegate (the session of a sub-agent).
    pub kind: SessionKind,
    /// The child's label.
    pub label: Label,
    /// How the store represents the events that the child inherits: shared with the parent, or
    /// copied from it.
    pub strategy: Strategy,
    /// The position in the parent's log at which the child begins.
    pub cut: Cut,
    /// The position at which the child would have begun without an adjustment. Present only if a
    /// running turn, or tool calls without a result, moved the beginning to an earlier position.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adjusted_from: Option<Cut>,
    /// The position at which the child would have begun if tool calls without a result had not
    /// moved the beginning. `None` if no such call moved it. Not part of the JSON.
    #[serde(skip)]
    pub requested: Option<Cut>,
    /// The number of events that the child inherits from the parent.
    pub event_count: u64,
    /// The number of artificial results that the child gets, one for each tool call without a
    /// result.
    pub synthetic_results: usize,
    /// Whether a branch summary is recorded after the inherited events. In a dry run: whether the
    /// fork would record one.
    pub would_record_branch_summary: bool,
    /// The last log position of the child.
    pub head_seq: i64,
    /// The folder that was made for the child, with the files of the position. Absent if none was
    /// wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree: Option<PathBuf>,
    /// The shell command that continues the conversation in the child. Present only in answers of
    /// the command-line program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume_command: Option<String>,
}
