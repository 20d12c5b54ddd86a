//! Types of `fork`, which creates a child of a session: another continuation (branch) or a
//! sub-agent (delegate).

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
    /// The position in the parent's log at which the child begins. `null` means the end; while a
    /// turn runs, it means the end of the last closed turn.
    pub at: Option<Selector>,
    /// The child's id. `null` generates an id. With an explicit id, repeating the fork returns the
    /// existing child.
    pub id: Option<SessionId>,
    /// The child's label. `null` derives a label from the child's id.
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
    /// The summary to record after the inherited events. `null` records no summary.
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
    /// Whether to return only the plan, and write nothing.
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

    /// Returns this request with `at` as its cut.
    #[must_use]
    pub fn at(mut self, at: Selector) -> Self {
        self.at = Some(at);
        self
    }
}

/// The answer of `fork`: the child, or in a dry run, the plan for the child.
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
    /// The command line that creates exactly this child. Present only in dry runs of the
    /// command-line program.
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
    /// The original cut. Present only if a running turn or open tool calls moved the cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adjusted_from: Option<Cut>,
    /// The requested cut, if open tool calls moved it. Not part of the JSON.
    #[serde(skip)]
    pub requested: Option<Cut>,
    /// The number of inherited events.
    pub event_count: u64,
    /// The number of open tool calls that got a synthetic result in the child.
    pub synthetic_results: usize,
    /// Whether a summary is recorded after the inherited events.
    pub would_record_branch_summary: bool,
    /// The child's last log position.
    pub head_seq: i64,
    /// The command line that continues the conversation in the child. Present only in answers of
    /// the command-line program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume_command: Option<String>,
}
