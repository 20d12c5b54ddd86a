//! Types of `fork`: creates another continuation of a session, or a sub-agent of it.

use std::collections::BTreeSet;

use forklore_core::workspace::Workspace;
use forklore_core::{Cut, Data, Label, Selector, SessionId, SessionKind, Strategy, ToolCallPolicy};
use serde::{Deserialize, Serialize};

use crate::Summarize;

/// The request of `fork`: the child to create.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Fork {
    /// The session to fork.
    #[serde(rename = "parent_session_id")]
    pub parent: SessionId,
    /// Where to cut the parent. `null` cuts at the end, or at the end of the last closed turn while
    /// a turn runs.
    pub at: Option<Selector>,
    /// The child's id. `null` generates one. With an explicit id the fork is idempotent.
    pub id: Option<SessionId>,
    /// The child's label. `null` derives one from the id.
    pub label: Option<Label>,
    /// The child's title.
    pub title: Option<String>,
    /// The child's kind: branch or delegate.
    #[serde(default = "branch")]
    pub kind: SessionKind,
    /// How the child stores its inherited prefix: shared or copied.
    #[serde(default)]
    pub strategy: Strategy,
    /// What happens to tool calls that the cut leaves open.
    #[serde(default)]
    pub tool_calls: ToolCallPolicy,
    /// The summary to record after the prefix. `null` records none.
    pub summarize: Option<Summarize>,
    /// The principal for whom the child acts. `null` inherits the parent's.
    pub principal: Option<String>,
    /// The child's permissions, a subset of its parent's. `null` inherits the parent's.
    pub permissions: Option<BTreeSet<String>>,
    /// The child's workspace. `null` uses the parent's.
    pub workspace: Option<Workspace>,
    /// Metadata of the child, set by the application. forklore does not interpret it.
    pub metadata: Option<Data>,
    /// Configuration of the child, set by the application. forklore does not interpret it.
    pub config: Option<Data>,
    /// Whether to return the plan only and write nothing.
    #[serde(default)]
    pub dry_run: bool,
}

fn branch() -> SessionKind {
    SessionKind::Branch
}

impl Fork {
    /// Creates a request that forks `parent` at its end, with all defaults.
    #[must_use]
    pub fn of(parent: SessionId) -> Self {
        Self {
            parent,
            at: None,
            id: None,
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
            dry_run: false,
        }
    }

    /// Returns the same request with another cut.
    #[must_use]
    pub fn at(mut self, at: Selector) -> Self {
        self.at = Some(at);
        self
    }
}

/// The answer of `fork`: the child, or the plan for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Forked {
    /// Whether this call created the child.
    pub recorded: bool,
    /// Whether an identical child with the requested id already existed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub existing: bool,
    /// Whether this answer is only a plan.
    pub dry_run: bool,
    /// The command line that creates exactly this child. Only in dry runs of the command-line
    /// program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apply: Option<String>,
    /// The parent session.
    pub parent_session_id: SessionId,
    /// The child session.
    pub child_session_id: SessionId,
    /// The root of the family.
    pub root_session_id: SessionId,
    /// The child's kind: branch or delegate.
    pub kind: SessionKind,
    /// The child's label.
    pub label: Label,
    /// How the child stores its inherited prefix: shared or copied.
    pub strategy: Strategy,
    /// The position in the parent's log at which the child begins.
    pub cut: Cut,
    /// The original cut, if a running turn or open calls moved it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adjusted_from: Option<Cut>,
    /// The original cut, if open calls moved it. Not part of the JSON.
    #[serde(skip)]
    pub requested: Option<Cut>,
    /// The number of inherited events.
    pub event_count: u64,
    /// The number of open calls that got a synthetic result.
    pub synthetic_results: usize,
    /// Whether a summary is recorded after the prefix.
    pub would_record_branch_summary: bool,
    /// The child's last log position.
    pub head_seq: i64,
    /// The command line that continues in the child. Only set by the command-line program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume_command: Option<String>,
}
