//! Limits how many events one run of packing handles.

use std::sync::atomic::{AtomicBool, Ordering};

/// How many more events one run of packing may process. Packing compresses and joins stored events.
pub(super) struct Budget<'a> {
    events: u64,
    ending: Option<&'a AtomicBool>,
}

impl<'a> Budget<'a> {
    /// Returns a budget without a limit: everything may be packed.
    pub(super) fn all() -> Self {
        Self { events: u64::MAX, ending: None }
    }

    /// Returns a budget for this number of events. Setting `ending` exhausts it early.
    pub(super) fn of(events: u64, ending: &'a AtomicBool) -> Self {
        Self { events, ending: Some(ending) }
    }

    /// Checks whether the budget permits packing this many more events.
    pub(super) fn allows(&self, events: u64) -> bool {
        events <= self.events && !self.ending.is_some_and(|ending| ending.load(Ordering::Relaxed))
    }

    pub(super) fn spend(&mut self, events: u64) {
        self.events = self.events.saturating_sub(events);
    }
}
