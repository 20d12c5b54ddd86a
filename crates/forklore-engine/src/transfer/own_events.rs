//! Reads a session's own events, page by page.

use std::vec::IntoIter;

use forklore_core::Header;
use forklore_core::redaction::is_same_event;
use forklore_store::Store;
use forklore_store::port::{At, Direction, LogEntry, Query};

use crate::Result;

/// The maximum number of events in one page.
const PAGE: usize = 256;

/// The own events of a session from a position on, up to those that its header counts.
pub(super) struct OwnEvents<'a> {
    store: &'a dyn Store,
    header: &'a Header,
    /// The number of own events before the next one.
    position: u64,
    page: IntoIter<LogEntry>,
}

impl<'a> OwnEvents<'a> {
    pub(super) fn from(store: &'a dyn Store, header: &'a Header, position: u64) -> Self {
        Self { store, header, position, page: Vec::new().into_iter() }
    }

    /// Returns the next own event, or `None` after the last one.
    pub(super) fn next(&mut self) -> Result<Option<LogEntry>> {
        if self.position >= self.header.own_events {
            return Ok(None);
        }
        if self.page.len() == 0 {
            self.turn_page()?;
        }
        let Some(next) = self.page.next() else {
            let missing = format!("the event {}", self.header.seq_of_own(self.position));
            let session = self.header.id.clone();
            return Err(forklore_store::Error::MissingAncestor { session, missing }.into());
        };
        self.position += 1;
        Ok(Some(next))
    }

    fn turn_page(&mut self) -> Result<()> {
        // Inherited events separate a child's first own event, `session_fork`, from the others.
        let is_fork = self.header.parent_id.is_some() && self.position == 0;
        let seq = self.header.seq_of_own(self.position);
        let limit = if is_fork { 1 } else { PAGE };
        let query = Query { at: At::Seq(seq), direction: Direction::Forward, limit, bare: false };
        let events = self.store.read(&self.header.id, &query)?.events;
        let consecutive = events.into_iter().zip(seq..);
        let own = consecutive.map_while(|(event, seq)| (event.seq == seq).then_some(event));
        self.page = own.collect::<Vec<_>>().into_iter();
        Ok(())
    }
}

/// Counts how many own events two sessions have in common: those of `a` from `a_from` on and those
/// of `b` from `b_from` on. An event that was redacted in one of the stores is the same event.
pub(super) fn common(
    (a_store, a, a_from): (&dyn Store, &Header, u64),
    (b_store, b, b_from): (&dyn Store, &Header, u64),
) -> Result<u64> {
    if (a_from, b_from) == (0, 0) {
        let shorter = a.own_events.min(b.own_events);
        let Some(last) = shorter.checked_sub(1) else { return Ok(0) };
        let of_a = OwnEvents::from(a_store, a, last).only()?;
        let of_b = OwnEvents::from(b_store, b, last).only()?;
        if is_same_event(&of_a.event, &of_b.event) && of_a.counts == of_b.counts {
            return Ok(shorter);
        }
    }
    let mut of_a = OwnEvents::from(a_store, a, a_from);
    let mut of_b = OwnEvents::from(b_store, b, b_from);
    let mut common = 0;
    while let (Some(a), Some(b)) = (of_a.next()?, of_b.next()?)
        && is_same_event(&a.event, &b.event)
    {
        common += 1;
    }
    Ok(common)
}

impl OwnEvents<'_> {
    /// Reads only the event at the position.
    pub(super) fn only(&self) -> Result<LogEntry> {
        let seq = self.header.seq_of_own(self.position);
        let query =
            Query { at: At::Seq(seq), direction: Direction::Forward, limit: 1, bare: false };
        let found = self.store.read(&self.header.id, &query)?.events.pop();
        found.filter(|event| event.seq == seq).ok_or_else(|| {
            let (session, missing) = (self.header.id.clone(), format!("the event {seq}"));
            forklore_store::Error::MissingAncestor { session, missing }.into()
        })
    }
}
