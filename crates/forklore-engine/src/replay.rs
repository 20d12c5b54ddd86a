//! `replay`: returns one plain record per conversation event. It has no side effects.

use std::ops::Range;

use forklore_api::{Record, RecordOrigin};
use forklore_core::{Header, Selector, SessionId};
use forklore_store::port::{At, LogEntry};

use crate::events::Events;
use crate::view::Labels;
use crate::{Engine, Result};

/// Iterates over the records (plain conversation events) of a session in ascending index. Ends
/// after the first error.
pub struct Replay {
    engine: Engine,
    events: Events,
    labels: Labels,
    /// The conversation index of the next record. The field `end` is the exclusive end of the
    /// indexes.
    next: u64,
    end: u64,
}

impl Engine {
    /// Returns the records of a session before the cut `up_to`. Returns all records if `up_to` is
    /// `None`.
    ///
    /// # Errors
    /// `not_found` if the session does not exist or was deleted, `invalid_args` if the cut is
    /// invalid.
    pub fn replay(&self, session: &SessionId, up_to: Option<&Selector>) -> Result<Replay> {
        let header = self.show(session)?;
        let end = match up_to {
            // A reading may end before the first record, unlike a fork.
            Some(selector) => self.search(&header, selector)?.cut.index,
            None => header.counts.index,
        };
        Ok(self.replay_from(&header, 0, end))
    }

    /// Returns the records of a session whose conversation indexes are in `part`.
    ///
    /// # Errors
    /// `not_found` if the session does not exist or was deleted.
    pub fn replay_part(&self, session: &SessionId, part: &Range<u64>) -> Result<Replay> {
        let header = self.show(session)?;
        Ok(self.replay_from(&header, part.start, part.end.min(header.counts.index)))
    }

    /// Returns the records of a session whose conversation indexes are at least `index` and less
    /// than `end`.
    pub(crate) fn replay_from(&self, header: &Header, index: u64, end: u64) -> Replay {
        let at = if index == 0 { At::Seq(0) } else { At::Index(index) };
        let events = self.events(&header.id, at);
        Replay { engine: self.clone(), events, labels: Labels::default(), next: index, end }
    }
}

impl Replay {
    /// Returns the number of records that the iterator has not yet returned.
    #[must_use]
    pub fn left(&self) -> u64 {
        self.end.saturating_sub(self.next)
    }

    fn record(&mut self, stored: LogEntry) -> Result<Record> {
        let mut message = self.engine.message(&stored.event);
        self.engine.mark_missing(&mut message);
        Ok(Record {
            index: stored.counts.index.saturating_sub(1),
            seq: stored.seq,
            partial: stored.event.is_partial(),
            role: message.role,
            content: message.content,
            branch: self.labels.get(&self.engine, &stored.origin.session_id)?,
            ts: stored.event.ts,
            origin: RecordOrigin {
                session_id: stored.origin.session_id,
                seq: stored.origin.seq,
                id: stored.event.id,
            },
        })
    }
}

impl Iterator for Replay {
    type Item = Result<Record>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.next < self.end {
            match self.events.next()? {
                Ok(stored) if stored.event.class.is_conversation() => {
                    self.next = stored.counts.index;
                    return (self.next <= self.end).then(|| self.record(stored));
                }
                Ok(_) => {}
                Err(error) => {
                    self.next = self.end;
                    return Some(Err(error));
                }
            }
        }
        None
    }
}
