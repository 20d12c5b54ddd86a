//! `op log` and `op show`: list what was done to sessions, and whether it can be undone.

use std::collections::HashSet;

use forklore_api::{
    OperationAnswer, OperationPage, OperationSession, OperationSummary, OperationsRequest,
    UndoState,
};
use forklore_core::SessionId;
use forklore_core::operation::{Operation, OperationId, OperationKind, Outcome};
use forklore_store::port::{NewOperation, Operations, Transaction, Write};

use crate::list::problems;
use crate::undo::Plan;
use crate::{Engine, Error, Result};

/// Maximum number of sessions of an operation that a list names.
const NAMED: usize = 3;

impl Engine {
    /// Lists operations, the newest first (docs/semantics.md, Operations).
    ///
    /// # Errors
    /// `unsupported` if the store keeps no log of operations.
    pub fn operations(&self, request: &OperationsRequest) -> Result<OperationPage> {
        let Operations { found, damaged, more } =
            self.store.operations(request.before, request.limit)?;
        let next = found.last().filter(|_| more).map(|last| last.id);
        let operations = found.iter().map(|one| Ok(self.summary_of(one)?.0));
        let operations = operations.collect::<Result<_>>()?;
        Ok(OperationPage { operations, next, problems: problems(&damaged) })
    }

    /// Returns an operation with all that it did.
    ///
    /// # Errors
    /// `not_found` if the store has no operation with this number; `unsupported` if the store keeps
    /// no log of operations.
    pub fn operation(&self, id: OperationId) -> Result<OperationAnswer> {
        let operation = self.recorded_operation(id)?;
        let (summary, plan) = self.summary_of(&operation)?;
        Ok(OperationAnswer { summary, outcomes: operation.outcomes, left: plan.left })
    }

    pub(crate) fn recorded_operation(&self, id: OperationId) -> Result<Operation> {
        let before = OperationId(id.0.saturating_add(1));
        let Operations { mut found, damaged, .. } = self.store.operations(Some(before), 1)?;
        match found.pop().filter(|operation| operation.id == id) {
            Some(operation) => Ok(operation),
            None if damaged.is_empty() => Err(Error::NoOperation(id)),
            // The record with this number may be one of those that cannot be read.
            None => Err(damaged.into_iter().next().map_or(Error::NoOperation(id), Error::Store)),
        }
    }

    fn summary_of(&self, operation: &Operation) -> Result<(OperationSummary, Plan)> {
        let plan = Plan::of_outcomes(self, operation)?;
        let undo = match (operation.undone_by, plan.is_empty(), plan.is_changed()) {
            (Some(_), ..) => UndoState::Undone,
            (None, true, _) => UndoState::Impossible,
            (None, false, true) => UndoState::Partial,
            (None, false, false) => UndoState::Possible,
        };
        let mut seen = HashSet::new();
        let sessions = operation.outcomes.iter().map(Outcome::session);
        let sessions: Vec<_> = sessions.filter(|session| seen.insert(*session)).collect();
        let (before, after) = replaced(&operation.outcomes);
        let summary = OperationSummary {
            id: operation.id,
            kind: operation.kind,
            at: operation.at,
            program: operation.program.clone(),
            principal: operation.principal.clone(),
            undoes: operation.undoes,
            undone_by: operation.undone_by,
            undo,
            sessions: sessions.len() as u64,
            first: sessions.iter().take(NAMED).map(|session| self.named(session)).collect(),
            before,
            after,
        };
        Ok((summary, plan))
    }

    fn named(&self, session: &SessionId) -> OperationSession {
        let header = self.store.header(session).ok();
        let described = header.map(|header| self.described(&header));
        let name = described.and_then(|session| session.title.or(session.first_words));
        OperationSession { session_id: session.clone(), name }
    }

    /// Returns a transaction that the store records as an operation of this kind.
    pub(crate) fn recorded(&self, kind: OperationKind, writes: Vec<Write>) -> Transaction {
        let operation = Some(Box::new(self.new_operation(kind)));
        Transaction { writes, operation, ..Transaction::default() }
    }

    /// Returns the record of an operation of this kind, done by the program that uses this engine.
    #[must_use]
    pub fn new_operation(&self, kind: OperationKind) -> NewOperation {
        NewOperation {
            program: self.program.as_deref().map(str::to_owned),
            principal: self.principal.as_deref().map(str::to_owned),
            ..NewOperation::of(kind)
        }
    }
}

/// Returns the former and the new label or title, if that is all that an operation changed.
fn replaced(outcomes: &[Outcome]) -> (Option<String>, Option<String>) {
    match outcomes {
        [Outcome::Labelled { before, after, .. }] => {
            (Some(before.to_string()), Some(after.to_string()))
        }
        [Outcome::Renamed { before, after, .. }] => (before.clone(), after.clone()),
        _ => (None, None),
    }
}
