//! Running counts, which let a fork find any position without reading the log.
//!
//! Each stored event carries the counts of everything up to and including itself. All counts but
//! `open` grow with the position. So one binary search finds the event at a cut, and its counts
//! give all coordinates of that cut.

use serde::{Deserialize, Serialize};

use crate::call::OpenCalls;
use crate::event::Event;

/// The number of things of each kind up to and including an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Counts {
    /// Inheritable events: what a fork after this event would inherit.
    #[serde(rename = "kept")]
    pub inheritable: u64,
    /// Conversation events, which is also the index of the next one.
    pub index: u64,
    /// Turns started.
    pub turns: u64,
    /// Bytes of `data` in the inheritable events.
    pub bytes: u64,
    /// Tool calls without a result.
    pub open: u64,
}

impl Counts {
    /// Returns the counts after one more event. `open` are the calls that are open after it.
    #[must_use]
    pub fn after(self, event: &Event, open: &OpenCalls) -> Self {
        let inheritable = u64::from(event.class.is_inherited());
        Self {
            inheritable: self.inheritable + inheritable,
            index: self.index + u64::from(event.class.is_conversation()),
            turns: self.turns + u64::from(event.effect.starts_turn),
            bytes: self.bytes + inheritable * event.data.get().len() as u64,
            open: open.len(),
        }
    }

    /// Converts counts that start at a span into counts of the whole history. `base` are the counts
    /// before the span.
    #[must_use]
    pub fn based_on(self, base: Self) -> Self {
        Self {
            inheritable: base.inheritable + self.inheritable,
            index: base.index + self.index,
            turns: base.turns + self.turns,
            bytes: base.bytes + self.bytes,
            open: self.open,
        }
    }
}
