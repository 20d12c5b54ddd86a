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
    /// Lists only operations that are older than this one. The `next` of an answer, passed here,
    /// gives the following page. `null` begins with the newest operation.
    pub before: Option<OperationId>,
    /// The maximum number of operations; 0 means no limit.
    pub limit: usize,
}

impl OperationsRequest {
    /// The default for the maximum number of operations in an answer.
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
    /// The operation can be undone. Events that an import added to an existing session remain.
    Possible,
    /// A part of what the operation did cannot be undone, for example because a session changed
    /// since. The rest can be undone.
    Partial,
    /// The operation was undone.
    Undone,
    /// Nothing of what the operation did can be undone.
    Impossible,
}

/// An operation, as a list shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OperationSummary {
    /// The number of the operation.
    pub id: OperationId,
    /// The kind of the operation.
    pub kind: OperationKind,
    /// When the operation was recorded, by the store's clock.
    pub at: Timestamp,
    /// The program that executed the operation. Absent if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// The principal on whose behalf the operation was executed. Absent if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub principal: Option<String>,
    /// The number of the operation that this operation undid. Absent if this operation is no undo.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undoes: Option<OperationId>,
    /// The number of the operation that undid this operation. Absent if there is none, or if that
    /// undo was itself undone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undone_by: Option<OperationId>,
    /// Whether the operation can be undone.
    pub undo: UndoState,
    /// The number of sessions that the operation changed.
    pub sessions: u64,
    /// The first sessions that the operation changed, at most 3.
    pub first: Vec<OperationSession>,
    /// The former label or title. Absent if there was none, or if the operation did not change
    /// exactly one label or one title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// The new label or title. Absent if there is none, or if the operation did not change exactly
    /// one label or one title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

/// A session that an operation changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OperationSession {
    /// The id of the session.
    pub session_id: SessionId,
    /// The present title of the session or, if it has none, what a person typed first in it. `null`
    /// if the session has neither or was erased.
    pub name: Option<String>,
}

/// The answer of `op log`: a page of operations.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OperationPage {
    /// The operations, the newest first.
    pub operations: Vec<OperationSummary>,
    /// The value of `before` in the request of the next page. `null` on the last page.
    pub next: Option<OperationId>,
    /// The problems of records of operations that cannot be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Problem>,
}

/// The answer of `op show`: an operation with everything that it did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OperationAnswer {
    /// The operation, as a list shows it. In JSON, its fields are direct fields of the answer.
    #[serde(flatten)]
    pub summary: OperationSummary,
    /// What the operation did to each session, in order.
    pub outcomes: Vec<Outcome>,
    /// The sessions to which the operation did something that an undo could not undo.
    pub left: Vec<LeftAlone>,
}

/// A session to which an operation did something that an undo cannot undo, with the reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LeftAlone {
    /// The id of the session.
    pub session_id: SessionId,
    /// Why the session remains as it is. In JSON, the fields of the reason are direct fields of
    /// this object.
    #[serde(flatten)]
    pub obstacle: Obstacle,
}

/// The request of `op undo`: undoes an operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Undo {
    /// The number of the operation to undo. `null` undoes the latest operation that can be undone
    /// and is not itself an undo.
    pub operation: Option<OperationId>,
    /// Whether to undo the rest if a part of what the operation did cannot be undone, for example
    /// because a session changed since. If `false`, the undo is then refused.
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

/// The answer of `op undo`: what the undo did, and what it could not undo.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Undone {
    /// The number of the operation that was undone.
    pub operation: OperationId,
    /// The number of the operation as which the undo was recorded. An undo of that operation is a
    /// redo. `null` in a dry run.
    pub recorded_as: Option<OperationId>,
    /// What the undo did to each session. In a dry run: what it would do.
    pub outcomes: Vec<Outcome>,
    /// The sessions to which the operation did something that the undo could not undo.
    pub left: Vec<LeftAlone>,
    /// Whether this answer is only a plan: nothing was changed.
    pub dry_run: bool,
}
