//! Types of `tree`: families with their forks and delegates.

use forklore_core::header::CopyOf;
use forklore_core::report::Problem;
use forklore_core::workspace::Workspace;
use forklore_core::{Cut, Label, SessionId, SessionKind};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// The request of `tree`: shows families (roots with all their descendants) as trees.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct TreeRequest {
    /// The id of any session of the family to show. `null` shows all families of `workspace`.
    #[serde(rename = "session_id")]
    pub session: Option<SessionId>,
    /// The workspace whose families to show. `null` shows the families of all workspaces.
    pub workspace: Option<Workspace>,
    /// The position at which the requested page begins: the field `next` of the previous page.
    /// `null` begins with the first family.
    pub after: Option<String>,
}

/// Trees of sessions (parents with their children), as a flat list in which each node precedes its
/// children.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trees {
    /// The nodes of all trees. Each node precedes its children.
    pub nodes: Vec<TreeNode>,
    /// The position at which the next page begins, for the field `after` of the next request.
    /// `None` on the last page.
    pub next: Option<String>,
    /// The problems of sessions whose header cannot be read.
    pub problems: Vec<Problem>,
}

/// A node of a tree: one session, with its header.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TreeNode {
    /// The id of the node's session.
    pub session_id: SessionId,
    /// The fields of the session's header. Absent if the store does not have the session or its
    /// header cannot be read.
    #[serde(flatten)]
    pub header: Option<NodeHeader>,
    /// Whether the store does not have the session, although a child names it as its parent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub missing: bool,
    /// Whether the session's header cannot be read.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub damaged: bool,
    /// Whether the session was deleted. It is still part of the tree because other sessions descend
    /// from it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
    /// Whether the session's parent links lead into a cycle. The node is then the root of its tree.
    /// The other sessions of the cycle are below this node and are not marked.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cycle: bool,
    /// The summaries of other branches that were recorded in this session. Always empty if the
    /// sessions of the answer wrote more than 20,000 events in total, because `tree` then does not
    /// search for such summaries.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub brought: Vec<BroughtMark>,
    /// The level of the node in its tree: 0 for a root. An imported session that repeats the
    /// beginning of another session is one level below that session. Not part of the JSON.
    #[serde(skip)]
    pub depth: usize,
}

/// The parts of a session's header that a tree shows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NodeHeader {
    /// The id of the parent session. `None` for a root. Not part of the JSON.
    #[serde(skip)]
    pub parent: Option<SessionId>,
    /// The session's label: a short name, unique in its family (a root with all its descendants).
    pub label: Label,
    /// The session's title, for display. `null` if it has none.
    pub title: Option<String>,
    /// The beginning of what a person typed first in this session, without what it inherits: one
    /// line of at most 200 characters. Absent if the session has a title, and in large trees for
    /// all but 500 sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_words: Option<String>,
    /// The session's kind: root, branch, or delegate (the session of a sub-agent).
    pub kind: SessionKind,
    /// The dialect (name of an agent's record format) of the imported events in the session's
    /// history. Absent if the history has no imported events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialect: Option<String>,
    /// The position in the parent's log at which the session begins. `null` for a root.
    pub cut: Option<Cut>,
    /// The workspace (folder) of the session.
    pub workspace: Workspace,
    /// The number of events that the session inherits from its parent.
    pub event_count: u64,
    /// The number of events that the session wrote itself, without inherited events.
    pub own_events: u64,
    /// Whether the fork that created the session recorded a summary of the inherited history.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub summary: bool,
    /// Whether a runtime (a process that runs turns) has leased the session.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub running: bool,
    /// The log position (`seq`) of the session's last event. -1 if the log is empty.
    pub head_seq: i64,
    /// The number of conversation events in the session's history, including inherited events.
    pub head_index: u64,
    /// The number of turns in the session's history, including inherited turns.
    pub turns: u64,
    /// The total size of the payloads that the session wrote itself, in bytes.
    pub own_bytes: u64,
    /// When the session was created.
    pub created: Timestamp,
    /// When the session was last written to.
    pub updated: Timestamp,
    /// The session whose beginning this imported session repeats. Absent if none was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy_of: Option<CopyOf>,
}

/// A summary of another branch that was recorded in a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BroughtMark {
    /// The log position of the event that contains the summary, in the session that recorded it.
    pub seq: u64,
    /// The id of the summarized branch.
    pub session_id: SessionId,
    /// The label that the branch had when it was summarized.
    pub label: String,
}

/// The answer of `tree`: families (roots with their descendants) as nested nodes, down to the last
/// requested level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tree {
    /// The top node of each tree, with all nodes below it.
    pub trees: Vec<NestedNode>,
    /// The position at which the next page begins, for the field `after` of the next request.
    /// Absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// The problems of sessions whose header cannot be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Problem>,
}

/// A node (one session) in the answer of `tree`, with its child nodes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NestedNode {
    /// The session of the node, with its header. In JSON, the fields of `TreeNode` are direct
    /// fields of this object.
    #[serde(flatten)]
    pub node: TreeNode,
    /// The children of the node. Empty if the node is on the last level that the caller requested
    /// (`--depth`).
    pub children: Vec<NestedNode>,
    /// Whether the answer leaves out descendants of the node, because the node is on the last level
    /// that the caller requested (`--depth`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// The number of descendants that the answer leaves out. Absent if it leaves out none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub descendants: Option<usize>,
}

/// One line of the output of `tree --flat`: a node (one session), without its children.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FlatNode {
    /// The session of the node, with its header. In JSON, the fields of `TreeNode` are direct
    /// fields of this object.
    #[serde(flatten)]
    pub node: TreeNode,
    /// The level of the node in its tree: 0 for a root. A session that was imported as a copy is
    /// one level below its original.
    pub depth: usize,
    /// The id of the parent of the node's session. `null` for a root, and if the store does not
    /// have the node's session or cannot read the header of that session.
    pub parent_session_id: Option<SessionId>,
}

impl NestedNode {
    /// Converts tree nodes in pre-order to nested nodes, without recursion. `levels` is the number of
    /// levels to convert: the nodes on deeper levels are only counted.
    #[must_use]
    pub fn of(nodes: &[TreeNode], levels: usize) -> Vec<Self> {
        let mut roots = Vec::new();
        // The path from a root to the last node. A node moves into its parent after it has received all
        // its children.
        let mut open: Vec<Self> = Vec::new();
        for node in nodes {
            if node.depth >= levels {
                if let Some(last) = open.last_mut() {
                    last.truncated = true;
                    *last.descendants.get_or_insert(0) += 1;
                }
                continue;
            }
            close_to(node.depth, &mut open, &mut roots);
            let node = node.clone();
            open.push(NestedNode {
                node,
                children: Vec::new(),
                truncated: false,
                descendants: None,
            });
        }
        close_to(0, &mut open, &mut roots);
        roots
    }
}

/// Removes nodes from the end of `open` until `depth` nodes are left. `open` is the path from a
/// root to the current node. Moves each removed node into its parent, or to `roots` if it has no
/// parent.
fn close_to(depth: usize, open: &mut Vec<NestedNode>, roots: &mut Vec<NestedNode>) {
    while open.len() > depth {
        let Some(done) = open.pop() else { break };
        open.last_mut().map_or(&mut *roots, |parent| &mut parent.children).push(done);
    }
}
