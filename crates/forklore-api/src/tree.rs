//! Types of `tree`: families with their forks and delegates.

use forklore_core::header::CopyOf;
use forklore_core::report::Problem;
use forklore_core::workspace::Workspace;
use forklore_core::{Cut, Label, SessionId, SessionKind};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// The request of `tree`: the families to show.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct TreeRequest {
    /// The id of any session of the family to show. `null` shows all families of `workspace`.
    #[serde(rename = "session_id")]
    pub session: Option<SessionId>,
    /// The workspace whose families to show. `null` shows the families of all workspaces.
    pub workspace: Option<Workspace>,
    /// The position to continue from: the `next` of an earlier answer.
    pub after: Option<String>,
}

/// Trees of sessions as a flat list, in which each node precedes its children.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trees {
    /// The nodes. Roots have depth 0.
    pub nodes: Vec<TreeNode>,
    /// The position of the next page. `None` on the last page.
    pub next: Option<String>,
    /// The problems of sessions whose header cannot be read.
    pub problems: Vec<Problem>,
}

/// A session in a tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TreeNode {
    /// The id of the session.
    pub session_id: SessionId,
    /// The fields of the session's header. Absent if the header is missing.
    #[serde(flatten)]
    pub header: Option<NodeHeader>,
    /// Whether a child names this session as its parent but the store does not have it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub missing: bool,
    /// Whether the session's header cannot be read.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub damaged: bool,
    /// Whether the session was deleted. It is shown because other sessions descend from it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
    /// Whether the session's parent links form a cycle.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cycle: bool,
    /// The summaries of other branches that this session recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub brought: Vec<BroughtMark>,
    /// The number of parent links between the session and the root of its tree. Not part of the
    /// JSON.
    #[serde(skip)]
    pub depth: usize,
}

/// The header of a session in a tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NodeHeader {
    /// The id of the parent session. Not part of the JSON.
    #[serde(skip)]
    pub parent: Option<SessionId>,
    /// The session's label.
    pub label: Label,
    /// The session's title.
    pub title: Option<String>,
    /// The session's kind: root, branch, or delegate (the session of a sub-agent).
    pub kind: SessionKind,
    /// The agent from whose records the session was imported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialect: Option<String>,
    /// The position in the parent's log at which the session begins. `null` for a root.
    pub cut: Option<Cut>,
    /// The number of events that the session wrote itself.
    pub own_events: u64,
    /// The session's last log position.
    pub head_seq: i64,
    /// The number of conversation events in the session's history, including inherited events.
    pub head_index: u64,
    /// The total size of the payloads that the session wrote itself, in bytes.
    pub own_bytes: u64,
    /// When the session was created.
    pub created: Timestamp,
    /// When the session was last written to.
    pub updated: Timestamp,
    /// The session whose beginning this imported session repeats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy_of: Option<CopyOf>,
}

/// A summary of one branch that another session recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BroughtMark {
    /// The log position of the event that contains the summary.
    pub seq: u64,
    /// The id of the summarized branch.
    pub session_id: SessionId,
    /// The label that the branch had when it was summarized.
    pub label: String,
}

/// The answer of `tree`: the families as nested nodes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tree {
    /// The root nodes.
    pub trees: Vec<NestedNode>,
    /// The position of the next page. Absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// The problems of sessions whose header cannot be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Problem>,
}

/// A node of `tree` with its children.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NestedNode {
    /// The session of the node.
    #[serde(flatten)]
    pub node: TreeNode,
    /// The children that are shown.
    pub children: Vec<NestedNode>,
    /// Whether the session has children that are not shown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// The number of descendants that are not shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub descendants: Option<usize>,
}

/// One line of `tree --flat`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FlatNode {
    /// The session of the node.
    #[serde(flatten)]
    pub node: TreeNode,
    /// The number of parent links between the session and the root of its tree.
    pub depth: usize,
    /// The id of the parent session. `null` for a root.
    pub parent_session_id: Option<SessionId>,
}
