//! Writes a session's own events to the new store. A marker replaces each lost event.

use forklore_api::{LostKind, Recovery};
use forklore_core::Usage;
use forklore_core::{Class, Counts, Event, Header, SessionId};
use forklore_store::port::{Append, LogEntry};
use jiff::Timestamp;

use super::gap::{Missing, before, marker, without_data};
use super::read::Slot;
use super::report::Losing;
use crate::Result;

/// Maximum number of events in one append to the new store.
const EVENTS: usize = 500;
/// Total size of `data` at which a batch of events is complete and is appended: 8 MiB.
const BYTES: usize = 8 << 20;

/// Collects the own events of one recovered session in batches and writes the batches.
pub(super) struct Tail<'t, W> {
    header: &'t Header,
    report: &'t mut Recovery,
    write: W,
    batch: Vec<Event>,
    bytes: usize,
    /// The unreadable seqs since the last readable event, each with the reason.
    gap: Vec<(u64, String)>,
    /// The session's counts (inheritable events, conversation events, turns, bytes) up to and
    /// including the last readable event.
    counts: Counts,
    ts: Timestamp,
}

impl<'t, W: FnMut(&SessionId, Append) -> Result<()>> Tail<'t, W> {
    /// Creates a writer for the events that one recovered session wrote itself. It passes the
    /// events to `write` in batches, in ascending seq.
    pub(super) fn new(header: &'t Header, report: &'t mut Recovery, write: W) -> Self {
        let (counts, ts) = (header.inherited, header.created);
        Self { header, report, write, batch: Vec::new(), bytes: 0, gap: Vec::new(), counts, ts }
    }

    /// Adds the result of reading the event at `seq`: the event, the event without `data`, or the
    /// reason why it cannot be read.
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

    /// Writes an `x.lost` marker event for each unreadable event since the last readable one (the
    /// gap). Chooses the markers' classes, which decide what forks inherit, so that the counts
    /// after the gap equal `behind`. If `behind` is `None`, the markers change no count. If `lost`
    /// is true, reports the events as lost, unless the session is erased and no fork inherits
    /// them.
    fn close(&mut self, behind: Option<Counts>, lost: bool) -> Result<()> {
        let gap = std::mem::take(&mut self.gap);
        let behind = behind.unwrap_or(self.counts);
        let mut missing = Missing::between(self.counts, behind);
        let erased = self.header.is_erased() && missing.is_only_own();
        for (seq, reason) in gap {
            if lost && !erased {
                self.report.lose(LostKind::Event, Some(&self.header.id), Some(seq), &reason);
            }
            let event = marker(&self.header.id, seq, self.ts, missing.next())?;
            self.push(event)?;
        }
        Ok(())
    }

    /// Completes the recovery of a session whose events are unreadable from the seq `next` on. Adds
    /// an `x.lost` marker for each missing event, until the counts reach `to`: the minimum counts
    /// that the cuts of the session's children prove.
    pub(super) fn fill(mut self, next: u64, to: Counts) -> Result<()> {
        let behind = Counts {
            inheritable: self.counts.inheritable.max(to.inheritable),
            index: self.counts.index.max(to.index),
            ..self.counts
        };
        // The missing events of an erased session were removed by its deletion.
        let lost = !self.header.is_erased();
        for number in 0..behind.inheritable - self.counts.inheritable {
            self.gap.push((next + number, "no descendant has it".into()));
        }
        self.close(Some(behind), lost)?;
        self.flush()
    }

    /// Writes an `x.lost` marker for each unreadable event since the last readable one. Then writes
    /// all events of the unfinished batch. `counts` are the counts at the end of the session, if
    /// they are recorded.
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

/// Builds an `x.lost` marker that replaces the lost `session_fork` event of a child. Its event
/// class is lineage.
pub(super) fn first_marker(header: &Header) -> Result<Event> {
    marker(&header.id, 0, header.created, (Class::Lineage, false))
}
