//! The record of an operation, which a store writes in the transaction of its changes
//! (docs/semantics.md, Operations).

use forklore_core::operation::{Operation, OperationId, OperationKind, Outcome};
use serde::{Deserialize, Serialize};

use crate::error::Error;

/// The operation to which the writes of a transaction belong. The store derives the outcomes of the
/// operation from these writes, and records the operation in the same transaction. If the writes
/// have no outcomes, the store records nothing. The store also records nothing if all outcomes are
/// appends, unless the transaction continues a recorded operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewOperation {
    /// The kind of the operation: what a person or a program requested.
    pub kind: OperationKind,
    /// The program that executes the operation, if it is known.
    pub program: Option<String>,
    /// The principal on whose behalf the operation is executed, if it is known.
    pub principal: Option<String>,
    /// The number of a recorded operation that the transaction continues. The store adds the
    /// transaction's outcomes to that record. `None` records a new operation. Each later step of an
    /// import continues the operation of the first step.
    pub continues: Option<OperationId>,
    /// The number of the operation that this operation undoes; `None` if this operation is no undo.
    /// The transaction is rejected with `Stale` if the other operation was already undone.
    pub undoes: Option<OperationId>,
    /// The outcomes that the transaction undoes; empty if it is no undo. The transaction is
    /// rejected with `Stale` if the session of one of these outcomes has changed since.
    pub expected: Vec<Outcome>,
}

impl NewOperation {
    /// Creates a new operation of this kind. All other fields are empty.
    #[must_use]
    pub fn of(kind: OperationKind) -> Self {
        let (program, principal, continues, undoes) = <_>::default();
        Self { kind, program, principal, continues, undoes, expected: Vec::new() }
    }
}

/// A page of the operations of a store.
#[derive(Debug, Default)]
pub struct Operations {
    /// The operations that could be read, the newest first.
    pub found: Vec<Operation>,
    /// The errors of the records that cannot be read, each with its location.
    pub damaged: Vec<Error>,
    /// Whether the store has operations that are older than those on this page.
    pub more: bool,
}
