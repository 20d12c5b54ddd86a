//! The record of an operation, which a store writes in the transaction of its changes
//! (docs/semantics.md, Operations).

use forklore_core::operation::{Operation, OperationId, OperationKind, Outcome};

use crate::error::Error;

/// The operation to which the writes of a transaction belong. The store derives its outcomes from
/// the writes, and records it with them. A transaction without outcomes records nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewOperation {
    /// What was asked for.
    pub kind: OperationKind,
    /// The program that does it, if it is known.
    pub program: Option<String>,
    /// The principal on whose behalf it is done, if it is known.
    pub principal: Option<String>,
    /// The recorded operation that the transaction belongs to. Its outcomes are added to that one.
    /// `None` records a new operation. An import gives the number that its first step got.
    pub continues: Option<OperationId>,
    /// The operation that this one undoes. Rejected with `Stale` if it was undone already.
    pub undoes: Option<OperationId>,
    /// The outcomes that must still be as they were, because the transaction takes them back.
    /// Rejected with `Stale` if the session of one of them changed since.
    pub expected: Vec<Outcome>,
}

impl NewOperation {
    /// Returns a new operation of this kind, by nobody known.
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
    /// Whether the store has older operations.
    pub more: bool,
}
