//! Running counts, which let a fork find any position without reading the log.
//!
//! Each stored event has the counts of all events up to and including itself. Except for `open`, no
//! count decreases from one event to the next. One binary search therefore finds the event at a
//! cut, and the counts of that event give all coordinates of the cut.

use serde::{Deserialize, Serialize};

use crate::call::OpenCalls;
use crate::event::Event;

/// Totals over the events of a session's history up to and including one event. Events of classes
/// that forks do not inherit add nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Counts {
    /// The number of inheritable events in the counted range, which a fork at the end of the range
    /// inherits.
    #[serde(rename = "kept")]
    pub inheritable: u64,
    /// The number of conversation events in the counted range. This is also the index (from 0) of
    /// the next conversation event after the range.
    pub index: u64,
    /// The number of turns that start in the counted range of events.
    pub turns: u64,
    /// The total size in bytes of `data` (the payload) of all inheritable events in the counted
    /// range.
    pub bytes: u64,
    /// The number of tool calls that are open (have no result) at the end of the counted range.
    pub open: u64,
}

impl Counts {
    /// Returns the counts after one more event. `open` contains the calls that are open after that
    /// event.
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

    /// Converts counts that begin with 0 at the start of a span (a range of a history) into counts
    /// from the start of the history. `base` contains the counts of the history before the span.
    #[must_use]
    #[inline]
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
