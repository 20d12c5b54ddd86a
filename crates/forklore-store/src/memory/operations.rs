//! The operations that the memory store has recorded.

use std::collections::HashSet;

use forklore_core::SessionId;
use jiff::Timestamp;

use super::state::State;
use crate::error::{Error, Result};
use crate::port::{OperationId, Operations};
use crate::rules::{Outcomes, RETAINED_OPERATIONS, Recorded, mark_undone};

impl State {
    /// Records what a transaction did. Returns the number of its operation.
    pub(super) fn record_operation(
        &mut self,
        recorded: Recorded<'_>,
        now: Timestamp,
    ) -> Result<Option<OperationId>> {
        if let Some(id) = recorded.operation.continues {
            let found = self.operations.iter_mut().find(|operation| operation.id == id);
            if let Some(operation) = found {
                let mut outcomes = Outcomes::default();
                outcomes.extend(std::mem::take(&mut operation.outcomes));
                outcomes.extend(recorded.outcomes);
                operation.outcomes = outcomes.into_vec();
            }
            return Ok(Some(id));
        }
        let id = OperationId(self.operations.last().map_or(0, |last| last.id.0) + 1);
        if let Some(undone) = recorded.operation.undoes {
            mark_undone(undone, id, |id, change| {
                let found = self.operations.iter_mut().find(|operation| operation.id == id);
                Ok::<_, Error>(found.map(change).is_some())
            })?;
        }
        self.operations.push(recorded.into_operation(id, now));
        Ok(Some(id))
    }

    pub(super) fn operations_before(
        &self,
        before: Option<OperationId>,
        limit: usize,
    ) -> Operations {
        let older = |id: OperationId| before.is_none_or(|before| id < before);
        let mut found: Vec<_> = self.operations.iter().rev().filter(|one| older(one.id)).collect();
        let limit = if limit == 0 { usize::MAX } else { limit };
        let more = found.len() > limit;
        found.truncate(limit);
        Operations { found: found.into_iter().cloned().collect(), damaged: Vec::new(), more }
    }

    /// Removes the labels and titles of erased sessions from the operations.
    pub(super) fn forget_names_of(&mut self, erased: &[SessionId]) {
        let erased: HashSet<_> = erased.iter().collect();
        let outcomes = self.operations.iter_mut().flat_map(|operation| &mut operation.outcomes);
        for outcome in outcomes.filter(|outcome| erased.contains(outcome.session())) {
            outcome.forget();
        }
    }

    /// Removes all but the newest operations.
    pub(super) fn retain_operations(&mut self) {
        let old = self.operations.len().saturating_sub(RETAINED_OPERATIONS);
        self.operations.drain(..old);
    }
}
