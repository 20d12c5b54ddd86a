//! Makes one fork after the other, and records the duration and the cost in the store of each.

use std::time::Duration;

use forklore::prelude::*;

use crate::error::Result;
use crate::samples::timed;
use crate::scene::Bed;

/// Forks of one session at one position.
pub(super) struct Forks<'a> {
    bed: &'a Bed,
    request: Fork,
    /// Bytes of data bound to statements, for each fork.
    pub(super) bytes: Vec<u64>,
    /// Pages added to the WAL, for each fork that did not restart the WAL.
    pub(super) pages: Vec<u32>,
}

impl<'a> Forks<'a> {
    pub(super) fn of(bed: &'a Bed, parent: &SessionId, at: &Selector) -> Self {
        let request = Fork::of(parent.clone()).at(at.clone());
        Self { bed, request, bytes: Vec::new(), pages: Vec::new() }
    }

    /// Makes one more fork, which is durable on return.
    pub(super) fn make(&mut self) -> Result<Duration> {
        let (bytes, pages) = (self.bed.bound_bytes(), self.bed.log_pages());
        let took = timed(|| Ok(self.bed.engine.fork(&self.request)?))?;
        self.bytes.push(self.bed.bound_bytes() - bytes);
        if let (Some(before), Some(after)) = (pages, self.bed.log_pages()) {
            self.pages.extend(after.checked_sub(before).filter(|pages| *pages > 0));
        }
        Ok(took)
    }

    /// Makes the next forks from another session.
    pub(super) fn turn_to(&mut self, parent: &SessionId) {
        self.request.parent = parent.clone();
    }
}
