//! Types of the verbs that list, show and undo operations.

use forklore_core::SessionId;
use forklore_core::operation::{Obstacle, OperationId, OperationKind, Outcome};
use forklore_core::report::Problem;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// The request of `op log`: lists operations, the newest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct OperationsRequest {
    /// Lists only operations older than this one: the `next` of an earlier answer.
    pub before: Option<OperationId>,
    /// The maximum number of operations; 0 means no limit.
    pub limit: usize,
}

impl OperationsRequest {
    /// The number of operations that are listed, unless a request says otherwise.
    pub const LIMIT: usize = 20;
}

impl Default for OperationsRequest {
    fn default() -> Self {
        Self { before: None, limit: Self::LIMIT }
    }
}

/// Whether an operation can be undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum UndoState {
    /// It can be undone.
    Possible,
    /// Some of its sessions changed since. The rest can be undone.
    Partial,
    /// It was undone.
    Undone,
    /// Nothing of it can be undone.
    Impossible,
}

/// An operation, as a list shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OperationSummary {
    /// The number of the operation.
    pub id: OperationId,
    /// What was asked for.
    pub kind: OperationKind,
    /// When it was recorded, by the store's clock.
    pub at: Timestamp,
    /// The program that did it. Absent if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// The principal on whose behalf it was done. Absent if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub principal: Option<String>,
    /// The operation that this one undid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undoes: Option<OperationId>,
    /// The operation that undid this one, unless that was undone too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undone_by: Option<OperationId>,
    /// Whether it can be undone.
    pub undo: UndoState,
    /// The number of its sessions.
    pub sessions: u64,
    /// The first of its sessions, at most 3.
    pub first: Vec<OperationSession>,
    /// The former label or title, if the operation changed only that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// The new label or title, if the operation changed only that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

/// A session of an operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OperationSession {
    /// The id of the session.
    pub session_id: SessionId,
    /// Its present title, or what a person typed first in it. `null` if it has neither or was
    /// erased.
    pub name: Option<String>,
}

/// The answer of `op log`: a page of operations.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OperationPage {
    /// The operations, the newest first.
    pub operations: Vec<OperationSummary>,
    /// The `before` of the next page. `null` on the last page.
    pub next: Option<OperationId>,
    /// The records of operations that cannot be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Problem>,
}

/// The answer of `op show`: an operation with all that it did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OperationAnswer {
    /// The operation.
    #[serde(flatten)]
    pub summary: OperationSummary,
    /// What the operation did, in order.
    pub outcomes: Vec<Outcome>,
    /// The sessions in which an undo could not take something back.
    pub left: Vec<LeftAlone>,
}

/// A session in which an undo cannot take something back, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LeftAlone {
    /// The id of the session.
    pub session_id: SessionId,
    /// Why it remains as it is.
    #[serde(flatten)]
    pub obstacle: Obstacle,
}

/// The request of `op undo`: takes an operation back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Undo {
    /// The operation. `null` takes the latest one that is no undo and that can be undone.
    pub operation: Option<OperationId>,
    /// Whether to take back the rest if some of its sessions changed since.
    pub partial: bool,
    /// Whether to return only the plan, and change nothing.
    pub dry_run: bool,
}

impl Undo {
    /// Creates a request that undoes this operation.
    #[must_use]
    pub fn of(operation: OperationId) -> Self {
        Self { operation: Some(operation), ..Self::default() }
    }
}

/// The answer of `op undo`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Undone {
    /// The operation that was undone.
    pub operation: OperationId,
    /// The operation as which the undo was recorded. To undo that is to redo. `null` in a dry run.
    pub recorded_as: Option<OperationId>,
    /// What the undo did. In a dry run: what it would do.
    pub outcomes: Vec<Outcome>,
    /// The sessions in which something could not be taken back.
    pub left: Vec<LeftAlone>,
    /// Whether this answer is only a plan: nothing was changed.
    pub dry_run: bool,
}
