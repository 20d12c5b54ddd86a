//! `op undo`: takes back what an operation did.

mod plan;

use forklore_api::{Undo, Undone};
use forklore_core::operation::{Operation, OperationKind};
use forklore_store::Error as StoreError;
use forklore_store::port::{NewOperation, Transaction};

pub(crate) use self::plan::Plan;
use crate::{Engine, Error, Result};

/// Maximum number of attempts of an undo. Another attempt is necessary if another writer changed a
/// session of the operation in the meantime.
const TRIES: usize = 8;

/// Number of operations that are read at once to find the latest one that can be undone.
const PAGE: usize = 32;

impl Engine {
    /// Takes an operation back, in one transaction (docs/semantics.md, Operations). If the request
    /// names no operation, takes back the latest one that is no undo and that can be undone.
    ///
    /// # Errors
    /// - `not_found`: the store has no such operation, or none that can be undone.
    /// - `conflict`: the operation was undone already, or sessions of it changed after it. With
    ///   `partial`, such sessions are an error only if nothing else can be taken back. The details
    ///   of the error name them.
    /// - `unsupported`: nothing of the operation can be taken back, or the store keeps no log of
    ///   operations.
    pub fn undo(&self, request: &Undo) -> Result<Undone> {
        let mut tries = TRIES;
        loop {
            let operation = match request.operation {
                Some(id) => self.recorded_operation(id)?,
                None => self.latest_undoable()?,
            };
            let plan = Plan::of(self, &operation)?;
            plan.check(&operation, request.partial)?;
            if request.dry_run {
                return Ok(plan.undone(&operation, None));
            }
            tries -= 1;
            match self.store.commit(self.transaction_of(&operation, &plan)) {
                Ok(committed) => {
                    let undone = plan.undone(&operation, committed.operation);
                    let (operation, outcomes) = (operation.id, undone.outcomes.len());
                    tracing::info!(%operation, outcomes, "undid an operation");
                    return Ok(undone);
                }
                // Another writer was faster. The next plan shows what changed.
                Err(
                    StoreError::Stale { .. }
                    | StoreError::HasChildren { .. }
                    | StoreError::Leased { .. }
                    | StoreError::LabelInUse { .. }
                    | StoreError::Deleted(_),
                ) if tries > 0 => {}
                Err(refused) => return Err(refused.into()),
            }
        }
    }

    fn transaction_of(&self, operation: &Operation, plan: &Plan) -> Transaction {
        let record = NewOperation {
            undoes: Some(operation.id),
            expected: plan.expected.clone(),
            ..self.new_operation(OperationKind::Undo)
        };
        let operation = Some(Box::new(record));
        Transaction { operation, ..Transaction::from(plan.writes(self.now())) }
    }

    /// Returns the latest operation that is no undo, was not undone, and of which something can be
    /// undone.
    fn latest_undoable(&self) -> Result<Operation> {
        let mut before = None;
        loop {
            let page = self.store.operations(before, PAGE)?;
            before = page.found.last().map(|last| last.id);
            for operation in page.found {
                let is_open = operation.undoes.is_none() && operation.undone_by.is_none();
                if is_open && !Plan::of_outcomes(self, &operation)?.is_empty() {
                    return Ok(operation);
                }
            }
            if !page.more || before.is_none() {
                return Err(Error::NothingToUndo);
            }
        }
    }
}
