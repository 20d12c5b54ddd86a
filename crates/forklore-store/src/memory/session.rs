//! One session of the memory store: its header and its whole history.

use std::ops::RangeInclusive;
use std::sync::Arc;

use forklore_core::{Counts, Data, Event, EventId, Header, OpenCalls, Origin, SessionId};

use crate::port::{At, Direction, LogEntry, Query};

#[derive(Clone, Debug)]
pub(super) struct Session {
    pub(super) header: Header,
    /// The session's whole history, including the inherited events. The index in this list is the
    /// seq.
    pub(super) log: Vec<Entry>,
    pub(super) open: OpenCalls,
}

#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) origin: Origin,
    pub(super) event: Arc<Event>,
    pub(super) counts: Counts,
    /// The session in whose data a store on disk would store the event. For an inherited event,
    /// this is an ancestor, unless the session has its own copy of the event.
    pub(super) holder: SessionId,
}

/// A saved state of a session, for a rollback of a failed transaction.
#[derive(Debug)]
pub(super) struct Mark {
    header: Header,
    events: usize,
    open: OpenCalls,
}

impl Session {
    pub(super) fn mark(&self) -> Mark {
        Mark { header: self.header.clone(), events: self.log.len(), open: self.open.clone() }
    }

    pub(super) fn back_to(&mut self, mark: Mark) {
        self.header = mark.header;
        self.log.truncate(mark.events);
        self.open = mark.open;
    }

    pub(super) fn push(&mut self, event: &Event) {
        self.open.step(&event.effect);
        self.header.counts = self.header.counts.after(event, &self.open);
        let entry = self.own(event, self.log.len(), self.header.counts);
        self.log.push(entry);
    }

    pub(super) fn own(&mut self, event: &Event, seq: usize, counts: Counts) -> Entry {
        let holder = self.header.id.clone();
        self.header.own_events += 1;
        self.header.own_bytes += event.data.get().len() as u64;
        let origin = Origin { session_id: holder.clone(), seq: seq as u64 };
        Entry { origin, event: Arc::new(event.clone()), counts, holder }
    }

    /// Returns the first inheritable events of the session, and the tool calls that they leave
    /// open. `inheritable` is the number of these events. If `holder` is given, the result names
    /// that session as the one that stores the events.
    pub(super) fn prefix(
        &self,
        inheritable: u64,
        holder: Option<&SessionId>,
    ) -> (Vec<Entry>, OpenCalls) {
        let mut open = OpenCalls::default();
        let inherited = self.log.iter().filter(|entry| entry.event.class.is_inherited());
        let entries =
            inherited.take_while(|entry| entry.counts.inheritable <= inheritable).map(|entry| {
                open.step(&entry.event.effect);
                Entry { holder: holder.unwrap_or(&entry.holder).clone(), ..entry.clone() }
            });
        (entries.collect(), open)
    }

    /// Returns the seqs of all events that the query matches, in the order of reading. The query's
    /// limit is ignored.
    pub(super) fn seqs(&self, query: &Query) -> Vec<usize> {
        let first = |reached: &dyn Fn(&Counts) -> bool| {
            self.log.partition_point(|entry| !reached(&entry.counts))
        };
        let len = self.log.len();
        let start = match &query.at {
            At::Seq(seq) => usize::try_from(*seq).unwrap_or(len),
            At::Inheritable(0) | At::Turn(0) => return Vec::new(),
            At::Inheritable(n) => first(&|counts| counts.inheritable >= *n),
            At::Index(n) => first(&|counts| counts.index > *n),
            At::Turn(n) => first(&|counts| counts.turns >= *n),
            At::Id(id) => {
                let named = self.log.iter().enumerate().filter(|(_, entry)| entry.event.id == *id);
                return named.map(|(seq, _)| seq).collect();
            }
        };
        match (query.direction, &query.at) {
            (Direction::Forward, _) => (start.min(len)..len).collect(),
            (Direction::Backward, At::Seq(_)) => {
                (0..len.min(start.saturating_add(1))).rev().collect()
            }
            (Direction::Backward, _) if start >= len => Vec::new(),
            (Direction::Backward, _) => (0..=start).rev().collect(),
        }
    }

    pub(super) fn stored(&self, seq: usize, bare: bool) -> Option<LogEntry> {
        let entry = self.log.get(seq)?;
        let mut event = Event::clone(&entry.event);
        if bare {
            event.data = Data::null();
        }
        Some(LogEntry {
            seq: seq as u64,
            origin: entry.origin.clone(),
            counts: entry.counts,
            event,
        })
    }

    /// Returns the ids of the events at these seqs.
    pub(super) fn ids(&self, seqs: &RangeInclusive<u64>) -> impl Iterator<Item = &EventId> {
        let from = usize::try_from(*seqs.start()).unwrap_or(usize::MAX);
        let count = usize::try_from(seqs.end() - seqs.start() + 1).unwrap_or_default();
        self.log.iter().skip(from).take(count).map(|entry| &entry.event.id)
    }
}
