//! `fork`: another continuation of a session, or a sub-agent of it.

use std::collections::BTreeSet;

use forklore_core::workspace::Workspace;
use forklore_core::{Cut, Data, Label, Selector, SessionId, SessionKind, Strategy, ToolCallPolicy};
use serde::{Deserialize, Serialize};

use crate::Summarize;

/// `fork`: the child to make.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Fork {
    /// The session to fork.
    #[serde(rename = "parent_session_id")]
    pub parent: SessionId,
    /// Where; none is the end, or the end of the last closed turn while one runs.
    pub at: Option<Selector>,
    /// The child's id; none generates one. With an id the fork can be repeated safely.
    pub id: Option<SessionId>,
    /// The child's label; none makes one from the id.
    pub label: Option<Label>,
    /// What the child is called.
    pub title: Option<String>,
    /// A branch or a delegate.
    #[serde(default = "branch")]
    pub kind: SessionKind,
    /// How the prefix is stored.
    #[serde(default)]
    pub strategy: Strategy,
    /// What happens to calls that the cut leaves open.
    #[serde(default)]
    pub tool_calls: ToolCallPolicy,
    /// The summary to record after the prefix; none records none.
    pub summarize: Option<Summarize>,
    /// For whom the child acts; none inherits.
    pub principal: Option<String>,
    /// What the child may do, a subset of what its parent may; none inherits.
    pub permissions: Option<BTreeSet<String>>,
    /// The child's folder; none is the parent's.
    pub workspace: Option<Workspace>,
    /// The application's notes.
    pub metadata: Option<Data>,
    /// The application's configuration.
    pub config: Option<Data>,
    /// Plan only: nothing is written.
    #[serde(default)]
    pub dry_run: bool,
}

fn branch() -> SessionKind {
    SessionKind::Branch
}

impl Fork {
    /// A fork of `parent` at its end, with every default.
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

    /// The same fork at another position.
    #[must_use]
    pub fn at(mut self, at: Selector) -> Self {
        self.at = Some(at);
        self
    }
}

/// The answer of `fork`: the child, or the plan of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Forked {
    /// Whether this call made the child.
    pub recorded: bool,
    /// Whether the child was there already, as asked for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub existing: bool,
    /// Whether this is only a plan.
    pub dry_run: bool,
    /// The command line that makes exactly this child, on a dry run of the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apply: Option<String>,
    /// The parent.
    pub parent_session_id: SessionId,
    /// The child.
    pub child_session_id: SessionId,
    /// The family.
    pub root_session_id: SessionId,
    /// A branch or a delegate.
    pub kind: SessionKind,
    /// The child's label.
    pub label: Label,
    /// How the prefix is stored.
    pub strategy: Strategy,
    /// Where the child begins.
    pub cut: Cut,
    /// Where it would have begun, if a running turn or open calls moved the cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adjusted_from: Option<Cut>,
    /// Where the cut was before open calls moved it; not a part of the JSON.
    #[serde(skip)]
    pub requested: Option<Cut>,
    /// How many events it inherits.
    pub event_count: u64,
    /// How many open calls got a synthetic result.
    pub synthetic_results: usize,
    /// Whether a summary is recorded after the prefix.
    pub would_record_branch_summary: bool,
    /// The child's last log position.
    pub head_seq: i64,
    /// The command line that goes on in the child, from the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume_command: Option<String>,
}
