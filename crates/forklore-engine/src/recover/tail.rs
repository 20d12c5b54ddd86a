//! Writes a session's own events to the new store, with markers for those that are lost.

use forklore_api::{LostKind, Recovery};
use forklore_core::Usage;
use forklore_core::{Class, Counts, Event, Header, SessionId};
use forklore_store::port::{Append, LogEntry};
use jiff::Timestamp;

use super::gap::{Missing, before, marker, without_data};
use super::read::Slot;
use super::report::Losing;
use crate::Result;

/// Maximum number of events per write.
const EVENTS: usize = 500;
/// Bytes of `data` after which a batch is written.
const BYTES: usize = 8 << 20;

/// Writes the own events of one session.
pub(super) struct Tail<'t, W> {
    header: &'t Header,
    report: &'t mut Recovery,
    write: W,
    batch: Vec<Event>,
    bytes: usize,
    /// Unreadable positions since the last readable event, with reasons.
    gap: Vec<(u64, String)>,
    /// The counts after the last readable event.
    counts: Counts,
    ts: Timestamp,
}

impl<'t, W: FnMut(&SessionId, Append) -> Result<()>> Tail<'t, W> {
    /// Creates a writer that passes the events to `write` in order.
    pub(super) fn new(header: &'t Header, report: &'t mut Recovery, write: W) -> Self {
        let (counts, ts) = (header.inherited, header.created);
        Self { header, report, write, batch: Vec::new(), bytes: 0, gap: Vec::new(), counts, ts }
    }

    /// Adds the result of reading the next position.
    pub(super) fn put(&mut self, seq: u64, slot: Slot) -> Result<()> {
        let (stored, lost) = match slot {
            Slot::Whole(stored) => (stored, None),
            Slot::Bare(stored, reason) => (stored, Some(reason)),
            Slot::Lost(reason) => {
                self.gap.push((seq, reason));
                return Ok(());
            }
        };
        let LogEntry { counts, event, .. } = stored;
        self.close(Some(before(counts, &event)), true)?;
        (self.counts, self.ts) = (counts, event.ts);
        match lost {
            None => {
                self.report.events += 1;
                self.push(event)
            }
            Some(reason) => {
                self.report.lose(LostKind::Data, Some(&self.header.id), Some(seq), &reason);
                self.push(without_data(event, seq)?)
            }
        }
    }

    /// Writes markers for the events missing before `behind`. Audit and lineage events of a deleted
    /// session, which nobody inherits, are not reported as lost.
    fn close(&mut self, behind: Option<Counts>, lost: bool) -> Result<()> {
        let gap = std::mem::take(&mut self.gap);
        let behind = behind.unwrap_or(self.counts);
        let mut missing = Missing::between(self.counts, behind);
        let deleted = self.header.deleted.is_some() && missing.is_only_own();
        for (seq, reason) in gap {
            if lost && !deleted {
                self.report.lose(LostKind::Event, Some(&self.header.id), Some(seq), &reason);
            }
            let event = marker(&self.header.id, seq, self.ts, missing.next())?;
            self.push(event)?;
        }
        Ok(())
    }

    /// Ends a session of which nothing after `next` is known, except that it had the counts `to`.
    pub(super) fn fill(mut self, next: u64, to: Counts) -> Result<()> {
        let behind = Counts {
            inheritable: self.counts.inheritable.max(to.inheritable),
            index: self.counts.index.max(to.index),
            ..self.counts
        };
        // The missing events of a deleted session were removed by its deletion.
        let lost = self.header.deleted.is_none();
        for number in 0..behind.inheritable - self.counts.inheritable {
            self.gap.push((next + number, "no descendant has it".into()));
        }
        self.close(Some(behind), lost)?;
        self.flush()
    }

    /// Writes the remaining events of a session that ends with these counts.
    pub(super) fn end(mut self, counts: Option<Counts>) -> Result<()> {
        self.close(counts, true)?;
        self.flush()
    }

    fn push(&mut self, event: Event) -> Result<()> {
        self.bytes += event.data.get().len();
        self.batch.push(event);
        if self.batch.len() >= EVENTS || self.bytes >= BYTES { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        self.bytes = 0;
        let events = std::mem::take(&mut self.batch);
        if events.is_empty() {
            return Ok(());
        }
        let (now, usage) = (self.header.updated, Usage::default());
        (self.write)(&self.header.id, Append { events, expect: None, owner: None, usage, now })
    }
}

/// Builds a marker for a child's first event, if its `session_fork` is lost.
pub(super) fn first_marker(header: &Header) -> Result<Event> {
    marker(&header.id, 0, header.created, (Class::Lineage, false))
}
