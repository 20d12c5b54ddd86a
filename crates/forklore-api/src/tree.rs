//! `tree`: families with their forks and delegates.

use forklore_core::header::CopyOf;
use forklore_core::report::Problem;
use forklore_core::workspace::Workspace;
use forklore_core::{Cut, Label, SessionId, SessionKind};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// `tree`: which trees to show.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct TreeRequest {
    /// The family of this session; none is every family of the workspace.
    #[serde(rename = "session_id")]
    pub session: Option<SessionId>,
    /// The workspace; none is all.
    pub workspace: Option<Workspace>,
    /// Families after this position, which an earlier answer gave as `next`.
    pub after: Option<String>,
}

/// Trees as a list: each node before its children.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trees {
    /// The nodes; a root has depth 0.
    pub nodes: Vec<TreeNode>,
    /// Where the next families begin.
    pub next: Option<String>,
    /// Sessions whose header cannot be read.
    pub problems: Vec<Problem>,
}

/// A session in a tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TreeNode {
    /// The session.
    pub session_id: SessionId,
    /// Its header's fields; none of a missing one.
    #[serde(flatten)]
    pub header: Option<NodeHeader>,
    /// Whether a child names it but the store lacks it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub missing: bool,
    /// Whether its header cannot be read.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub damaged: bool,
    /// Whether it was deleted; it is shown because others descend from it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
    /// Whether its parent links run in a circle.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cycle: bool,
    /// The branches whose outcome was brought into it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub brought: Vec<BroughtMark>,
    /// Links below the root of its tree; not a part of the JSON.
    #[serde(skip)]
    pub depth: usize,
}

/// The header of a session in a tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NodeHeader {
    /// Its parent; not a part of the JSON.
    #[serde(skip)]
    pub parent: Option<SessionId>,
    /// Its label.
    pub label: Label,
    /// What it is called.
    pub title: Option<String>,
    /// How it came to be.
    pub kind: SessionKind,
    /// Whose records it holds, if an agent wrote them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialect: Option<String>,
    /// Where in its parent it begins.
    pub cut: Option<Cut>,
    /// How many events it wrote itself.
    pub own_events: u64,
    /// Its last log position.
    pub head_seq: i64,
    /// How many conversation events it has.
    pub head_index: u64,
    /// How many bytes it wrote itself.
    pub own_bytes: u64,
    /// When it was made.
    pub created: Timestamp,
    /// When it was last written.
    pub updated: Timestamp,
    /// The session whose beginning it repeats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy_of: Option<CopyOf>,
}

/// A branch whose outcome was brought into a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BroughtMark {
    /// The log position of its summary.
    pub seq: u64,
    /// The branch.
    pub session_id: SessionId,
    /// The branch's label then.
    pub label: String,
}

/// The answer of `tree`: each node with everything below it, down to the last level shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tree {
    /// The roots.
    pub trees: Vec<NestedNode>,
    /// Where the next families begin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// Sessions whose header cannot be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Problem>,
}

/// A node of `tree` with its children.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NestedNode {
    /// The session.
    #[serde(flatten)]
    pub node: TreeNode,
    /// Its children, as far as they are shown.
    pub children: Vec<NestedNode>,
    /// Whether it has children that are not shown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// How many sessions below it are not shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub descendants: Option<usize>,
}

/// One line of `tree --flat`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FlatNode {
    /// The session.
    #[serde(flatten)]
    pub node: TreeNode,
    /// Links below the root of its tree.
    pub depth: usize,
    /// The session above it.
    pub parent_session_id: Option<SessionId>,
}
