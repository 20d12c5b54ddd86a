//! Running counts, which let a fork find any position without reading the log.
//!
//! Each stored event has the counts of all events up to and including itself. All counts but `open`
//! never decrease from one event to the next. One binary search therefore finds the event at a cut,
//! and the counts of that event give all coordinates of the cut.

use serde::{Deserialize, Serialize};

use crate::call::OpenCalls;
use crate::event::Event;

/// Totals over a history, up to and including one event. Events of classes that forks do not
/// inherit add nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Counts {
    /// The number of inheritable events: those that a fork after this event inherits.
    #[serde(rename = "kept")]
    pub inheritable: u64,
    /// The number of conversation events, which is also the index of the next conversation event.
    pub index: u64,
    /// The number of turns that have started.
    pub turns: u64,
    /// The total size of `data` in the inheritable events, in bytes.
    pub bytes: u64,
    /// The number of open tool calls, those without a result.
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

    /// Converts counts that start at a span (a range of a history) into counts of the whole
    /// history. `base` are the counts before the span.
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
