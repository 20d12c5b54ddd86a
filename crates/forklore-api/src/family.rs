//! `lineage` and `branches`: where a session stands in its family.

use forklore_core::report::Problem;
use forklore_core::{Cut, Label, SessionId, SessionKind};
use serde::{Deserialize, Serialize};

/// The answer of `lineage`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Lineage {
    /// The session.
    pub session_id: SessionId,
    /// The family.
    pub root_session_id: SessionId,
    /// Links up to the root.
    pub depth: u64,
    /// The parent first, the root last.
    pub ancestors: Vec<Relative>,
    /// The children, by cut, then by time, then by id.
    pub children: Vec<Relative>,
    /// The last child of this page, if there are more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<SessionId>,
    /// Children whose header cannot be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Problem>,
}

/// An ancestor or a child.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Relative {
    /// The session.
    pub session_id: SessionId,
    /// Its label, if its header is there.
    pub label: Option<Label>,
    /// How it came to be.
    pub kind: Option<SessionKind>,
    /// Where in its parent it begins.
    pub cut: Option<Cut>,
    /// Whether it was deleted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
    /// Whether the store lacks it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub missing: bool,
}

/// The answer of `branches`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Branches {
    /// The family.
    pub root_session_id: SessionId,
    /// The root and its branches, in the order of the tree, without delegates.
    pub branches: Vec<Branch>,
    /// The last branch of this page, if there are more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<SessionId>,
    /// Sessions whose header cannot be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Problem>,
}

/// One continuation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Branch {
    /// Its label.
    pub label: Label,
    /// The session.
    pub session_id: SessionId,
    /// What it continues.
    pub parent_session_id: Option<SessionId>,
    /// Where in its parent it begins.
    pub cut: Option<Cut>,
    /// Its last log position.
    pub head_seq: i64,
    /// How many conversation events it has.
    pub head_index: u64,
    /// How many events it wrote itself.
    pub own_events: u64,
}
