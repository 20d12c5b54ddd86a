//! Running counts: what lets a fork find any place without reading the log.
//!
//! Each stored event carries the counts of everything up to and including itself. They grow with
//! the position (all but `open`), so one search finds the event at a cut, and its counts are all
//! the coordinates of that cut.

use serde::{Deserialize, Serialize};

use crate::call::OpenCalls;
use crate::event::Event;

/// How much of each sort stands up to and including an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Counts {
    /// Inheritable events: what a fork behind this event would take over.
    #[serde(rename = "kept")]
    pub inheritable: u64,
    /// Conversation events: the index that the next one would get.
    pub index: u64,
    /// Turns begun.
    pub turns: u64,
    /// Bytes of `data` in the inheritable events.
    pub bytes: u64,
    /// Calls without a result.
    pub open: u64,
}

impl Counts {
    /// The counts behind one more event, where `open` are the calls open behind it.
    #[must_use]
    pub fn after(self, event: &Event, open: &OpenCalls) -> Self {
        let kept = u64::from(event.class.is_inherited());
        Self {
            inheritable: self.inheritable + kept,
            index: self.index + u64::from(event.class.is_conversation()),
            turns: self.turns + u64::from(event.effect.starts_turn),
            bytes: self.bytes + kept * event.data.get().len() as u64,
            open: open.len(),
        }
    }

    /// These counts, taken from where a span starts, as counts of the whole history.
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
