//! `replay`: returns one plain record per conversation event. It has no side effects.

mod part;

use std::ops::Range;

use forklore_api::{Record, RecordOrigin, ReplayRange};
use forklore_core::{Event, EventType, Header, Label, Message, Selector, SessionId};
use forklore_store::port::{At, LogEntry};
use jiff::Timestamp;

use crate::events::Events;
use crate::inspect::messages;
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
    /// The number of inheritable events up to the end of the replay. Includes events that are no
    /// records.
    reach: u64,
}

/// A part of a conversation as people read it.
#[derive(Clone, Debug, PartialEq)]
pub enum Replayed {
    /// A conversation event, in the form that is the same for all agents.
    Record(Record),
    /// A summary between two conversation events.
    Summary(ReplayedSummary),
}

/// A summary in a conversation: a compaction, or a summary of a branch.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplayedSummary {
    /// The type of the event: `history_compaction` or `branch_summary`.
    pub kind: EventType,
    /// The seq of the event.
    pub seq: u64,
    /// When the event was written.
    pub ts: Timestamp,
    /// The present label of the session in which the event was written. `None` if the store has no
    /// readable header of that session.
    pub branch: Option<Label>,
    /// The text of the summary, as messages.
    pub messages: Vec<Message>,
}

/// Iterates over the records and summaries of a session. Ends after the first error.
pub struct ReplayWithSummaries(Replay);

impl Engine {
    /// Returns the records of a session before the cut `up_to`. Returns all records if `up_to` is
    /// `None`.
    ///
    /// # Errors
    /// `not_found` if the session does not exist or was deleted, `invalid_args` if the cut is
    /// invalid.
    pub fn replay(&self, session: &SessionId, up_to: Option<&Selector>) -> Result<Replay> {
        let range = ReplayRange { up_to: up_to.cloned(), ..ReplayRange::default() };
        self.replay_range(session, &range)
    }

    /// Returns the records of a session whose conversation indexes are in `part`.
    ///
    /// # Errors
    /// `not_found` if the session does not exist or was deleted.
    pub fn replay_part(&self, session: &SessionId, part: &Range<u64>) -> Result<Replay> {
        let header = self.show(session)?;
        Ok(self.replay_from(&header, part.start, part.end.min(header.counts.index)))
    }

    /// Returns the text of a compaction or of a branch summary, as messages for people. `None` for
    /// any other event.
    #[must_use]
    pub fn summary_messages(&self, event: &Event) -> Option<Vec<Message>> {
        if ![EventType::HISTORY_COMPACTION, EventType::BRANCH_SUMMARY].contains(&event.kind) {
            return None;
        }
        // The model also receives the messages that an agent's compaction retains. They are shown
        // already, as records before it.
        Some(match event.dialect {
            Some(_) => vec![self.message(event)],
            None => messages::of_event(self, event),
        })
    }

    /// Returns the records of a session whose conversation indexes are at least `index` and less
    /// than `end`.
    pub(crate) fn replay_from(&self, header: &Header, index: u64, end: u64) -> Replay {
        let at = if index == 0 { At::Seq(0) } else { At::Index(index) };
        let events = self.events(&header.id, at);
        let (engine, labels) = (self.clone(), Labels::default());
        Replay { engine, events, labels, next: index, end, reach: header.counts.inheritable }
    }
}

impl Replay {
    /// Returns the number of records that the iterator has not yet returned.
    #[must_use]
    pub fn left(&self) -> u64 {
        self.end.saturating_sub(self.next)
    }

    /// Checks whether an event is before the end of the replay.
    fn reaches(&self, stored: &LogEntry) -> bool {
        stored.counts.inheritable <= self.reach && stored.counts.index <= self.end
    }

    /// Makes the iterator also return the summaries between the records.
    #[must_use]
    pub fn with_summaries(self) -> ReplayWithSummaries {
        ReplayWithSummaries(self)
    }

    fn summary(
        &mut self,
        LogEntry { seq, event, origin, .. }: LogEntry,
        messages: Vec<Message>,
    ) -> Result<ReplayedSummary> {
        let branch = self.labels.get(&self.engine, &origin.session_id)?;
        Ok(ReplayedSummary { kind: event.kind, seq, ts: event.ts, branch, messages })
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

impl Iterator for ReplayWithSummaries {
    type Item = Result<Replayed>;

    fn next(&mut self) -> Option<Self::Item> {
        let Self(replay) = self;
        while replay.reach > 0 {
            let stored = match replay.events.next()? {
                Ok(stored) if replay.reaches(&stored) => stored,
                Ok(_) => break,
                Err(error) => {
                    replay.reach = 0;
                    return Some(Err(error));
                }
            };
            if stored.event.class.is_conversation() {
                return Some(replay.record(stored).map(Replayed::Record));
            }
            if let Some(messages) = replay.engine.summary_messages(&stored.event) {
                return Some(replay.summary(stored, messages).map(Replayed::Summary));
            }
        }
        None
    }
}
