//! One fork after the other, each timed and its cost in the store noted.

use std::time::Duration;

use forklore::prelude::*;

use crate::error::Result;
use crate::samples::timed;
use crate::scene::Bed;

/// Forks of one session at one place.
pub(super) struct Forks<'a> {
    bed: &'a Bed,
    request: Fork,
    /// Bytes of data bound to statements, for each fork.
    pub(super) bytes: Vec<u64>,
    /// Pages added to the write-ahead log, for each fork that did not begin it anew.
    pub(super) pages: Vec<u32>,
}

impl<'a> Forks<'a> {
    pub(super) fn of(bed: &'a Bed, parent: &SessionId, at: &Selector) -> Self {
        let request = Fork::of(parent.clone()).at(at.clone());
        Self { bed, request, bytes: Vec::new(), pages: Vec::new() }
    }

    /// Makes one more, durable when this returns.
    pub(super) fn make(&mut self) -> Result<Duration> {
        let (bytes, pages) = (self.bed.bound_bytes(), self.bed.log_pages());
        let took = timed(|| Ok(self.bed.engine.fork(&self.request)?))?;
        self.bytes.push(self.bed.bound_bytes() - bytes);
        if let (Some(before), Some(after)) = (pages, self.bed.log_pages()) {
            self.pages.extend(after.checked_sub(before).filter(|pages| *pages > 0));
        }
        Ok(took)
    }

    /// The next forks are of another session.
    pub(super) fn turn_to(&mut self, parent: &SessionId) {
        self.request.parent = parent.clone();
    }
}
