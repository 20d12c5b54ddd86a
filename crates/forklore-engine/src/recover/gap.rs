//! Builds marker events. A marker replaces an event that cannot be read.

use forklore_core::{Class, Counts, Data, Effect, Event, EventId, EventType, SessionId};
use jiff::Timestamp;
use serde_json::json;

use crate::{Error, Result};

/// The type of a marker event. Recovery writes a marker instead of each event that it could not
/// read.
const LOST: &str = "x.lost";

/// How many events and turns are missing in a gap of unreadable events: events that forks inherit,
/// conversation events, and turns. Computed from the counts before and after the gap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Missing {
    inheritable: u64,
    index: u64,
    turns: u64,
}

impl Missing {
    /// Computes how many events are missing in a gap, from the counts before and after the gap.
    pub(super) fn between(before: Counts, behind: Counts) -> Self {
        Self {
            inheritable: behind.inheritable.saturating_sub(before.inheritable),
            index: behind.index.saturating_sub(before.index),
            turns: behind.turns.saturating_sub(before.turns),
        }
    }

    /// Checks whether forks would inherit none of the missing events.
    pub(super) fn is_only_own(self) -> bool {
        self == Self::default()
    }

    /// Returns the class of the gap's next marker, and whether the marker starts a turn. A marker
    /// is an event that replaces a lost one. The markers may have another order than the lost
    /// events, but after the gap all counts are correct again.
    pub(super) fn next(&mut self) -> (Class, bool) {
        let turn = self.turns > 0;
        self.turns = self.turns.saturating_sub(1);
        let class = if self.index > 0 || turn && self.inheritable > 0 {
            Class::Conversation
        } else if self.inheritable > 0 {
            Class::Evidence
        } else {
            Class::Audit
        };
        self.index = self.index.saturating_sub(1);
        self.inheritable = self.inheritable.saturating_sub(1);
        (class, turn)
    }
}

/// Computes the counts before `event` from the counts after it. Does not change the fields `bytes`
/// and `open` (open tool calls).
pub(super) fn before(counts: Counts, event: &Event) -> Counts {
    Counts {
        inheritable: counts.inheritable.saturating_sub(u64::from(event.class.is_inherited())),
        index: counts.index.saturating_sub(u64::from(event.class.is_conversation())),
        turns: counts.turns.saturating_sub(u64::from(event.effect.starts_turn)),
        ..counts
    }
}

/// Builds a marker: an `x.lost` event that replaces the lost event at `seq`. The marker has the
/// given class, and starts a turn if `starts_turn` is true. It contains nothing else of the lost
/// event.
pub(super) fn marker(
    session: &SessionId,
    seq: u64,
    ts: Timestamp,
    (class, starts_turn): (Class, bool),
) -> Result<Event> {
    Ok(Event {
        id: EventId::derived(session, seq),
        ts,
        kind: kind()?,
        class,
        dialect: None,
        effect: Effect { starts_turn, calls: Vec::new() },
        data: data(&json!({"seq": seq, "what": "event"}))?,
    })
}

/// Turns an event whose `data` is unreadable into an `x.lost` marker: replaces its `data` and its
/// type, and removes its dialect.
pub(super) fn without_data(event: Event, seq: u64) -> Result<Event> {
    let mut lost = json!({"seq": seq, "what": "data", "type": event.kind.as_str()});
    if let (Some(dialect), Some(lost)) = (&event.dialect, lost.as_object_mut()) {
        lost.insert("dialect".into(), json!(**dialect));
    }
    Ok(Event { kind: kind()?, dialect: None, data: data(&lost)?, ..event })
}

fn kind() -> Result<EventType> {
    LOST.parse().map_err(|error| Error::io("making a marker", std::io::Error::other(error)))
}

fn data(lost: &serde_json::Value) -> Result<Data> {
    let data = Data::of(&json!({"lost": lost}));
    data.map_err(|error| Error::io("making a marker", std::io::Error::other(error)))
}
