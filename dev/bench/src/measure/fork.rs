//! Creates forks one after the other, and records the duration and the storage cost of each.

use std::time::Duration;

use forklore::prelude::*;

use crate::error::Result;
use crate::samples::timed;
use crate::scene::Bed;

/// Makes forks of one session at one position. Records how many data bytes and SQLite pages each
/// fork adds to the store.
pub(super) struct Forks<'a> {
    bed: &'a Bed,
    request: Fork,
    /// For each fork, the number of data bytes passed to SQL statements as parameters.
    pub(super) bytes: Vec<u64>,
    /// For each fork, the number of pages added to SQLite's WAL. Forks during which the WAL
    /// restarted are left out.
    pub(super) pages: Vec<u32>,
}

impl<'a> Forks<'a> {
    pub(super) fn of(bed: &'a Bed, parent: &SessionId, at: &Selector) -> Self {
        let request = Fork::of(parent.clone()).at(at.clone());
        Self { bed, request, bytes: Vec::new(), pages: Vec::new() }
    }

    /// Creates one more fork and returns the duration. The fork is durable when this method
    /// returns.
    pub(super) fn make(&mut self) -> Result<Duration> {
        let (bytes, pages) = (self.bed.bound_bytes(), self.bed.log_pages());
        let took = timed(|| Ok(self.bed.engine.fork(&self.request)?))?;
        self.bytes.push(self.bed.bound_bytes() - bytes);
        if let (Some(before), Some(after)) = (pages, self.bed.log_pages()) {
            self.pages.extend(after.checked_sub(before).filter(|pages| *pages > 0));
        }
        Ok(took)
    }

    /// Sets the session from which the next forks are created.
    pub(super) fn turn_to(&mut self, parent: &SessionId) {
        self.request.parent = parent.clone();
    }
}
