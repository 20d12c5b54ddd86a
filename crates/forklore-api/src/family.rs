//! Types of `lineage` and `branches`: the relatives of a session.

use forklore_core::report::Problem;
use forklore_core::{Cut, Label, SessionId, SessionKind};
use serde::{Deserialize, Serialize};

/// The answer of `lineage`: the ancestors and the children of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Lineage {
    /// The id of the session whose lineage this is.
    pub session_id: SessionId,
    /// The id of the root of the session's family (a root with all its descendants).
    pub root_session_id: SessionId,
    /// The number of parent links between the session and its root.
    pub depth: u64,
    /// The session's ancestors, from the parent to the root.
    pub ancestors: Vec<Relative>,
    /// The session's children. They are ordered by the log position at which they begin, then by
    /// creation time, then by id.
    pub children: Vec<Relative>,
    /// The id of the last child in this page of the answer. The next page begins after this child.
    /// Absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<SessionId>,
    /// The problems of child sessions whose header cannot be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Problem>,
}

/// An ancestor or a child of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Relative {
    /// The id of this relative (an ancestor or a child of the requested session).
    pub session_id: SessionId,
    /// The label of the ancestor or child. `null` if the store does not have the session or cannot
    /// read its header.
    pub label: Option<Label>,
    /// The session's kind: root, branch, or delegate (the session of a sub-agent). `null` if the
    /// store does not have the session or cannot read its header.
    pub kind: Option<SessionKind>,
    /// The position in the parent's log at which the session begins. `null` for a root, and if the
    /// store does not have the session or cannot read its header.
    pub cut: Option<Cut>,
    /// Whether the fork that created the session recorded a summary of the inherited history.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub summary: bool,
    /// Whether a runtime (a process that runs turns) has leased the session.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub running: bool,
    /// Whether the session was deleted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
    /// Whether the store does not have the session. The session's own ancestors are then unknown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub missing: bool,
    /// Whether the session's header cannot be read. The session's own ancestors are then unknown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub damaged: bool,
}

/// The answer of `branches`: the root and the branches of a family (a root with all its
/// descendants).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Branches {
    /// The id of the root of the family.
    pub root_session_id: SessionId,
    /// The root and its branches, without delegates (sessions of sub-agents). Each branch follows
    /// its parent.
    pub branches: Vec<Branch>,
    /// The id of the last branch in this page of the answer. The next page begins after this
    /// branch. Absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<SessionId>,
    /// The problems of sessions whose header cannot be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Problem>,
}

/// One branch of a family (a root with all its descendants), or the root itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Branch {
    /// The label of the branch.
    pub label: Label,
    /// The id of the branch's session.
    pub session_id: SessionId,
    /// The session from which the branch was forked. `null` for the root.
    pub parent_session_id: Option<SessionId>,
    /// The position in the parent's log at which the branch begins. `null` for the root.
    pub cut: Option<Cut>,
    /// The log position (`seq`) of the branch's last event. -1 if its log is empty.
    pub head_seq: i64,
    /// The number of conversation events in the branch's history, including inherited events.
    pub head_index: u64,
    /// The number of events that the branch wrote itself, without inherited events.
    pub own_events: u64,
    /// Whether the fork that created the branch recorded a summary of the inherited history.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub summary: bool,
    /// Whether a runtime (a process that runs turns) has leased the branch.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub running: bool,
}
