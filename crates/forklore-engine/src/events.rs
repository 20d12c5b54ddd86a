//! A session's events as a stream in constant memory, over the pages of a store.

use std::sync::Arc;

use forklore_model::SessionId;
use forklore_store::Store;
use forklore_store::port::{At, Direction, Query, Stored};

use crate::{Engine, Result};

/// The first page is small, so that the first event is there at once.
const FIRST_EVENTS: usize = 16;
const PAGE_EVENTS: usize = 512;

/// Events in rising seq. After an error it ends.
pub struct Events {
    store: Arc<dyn Store>,
    session: SessionId,
    /// What to read next; none at the end.
    next: Option<At>,
    bare: bool,
    /// The most events of the next page.
    limit: usize,
    page: std::vec::IntoIter<Stored>,
}

impl Engine {
    /// The events of a session from `at` on.
    #[must_use]
    pub fn events(&self, session: &SessionId, at: At) -> Events {
        Events {
            store: self.store.clone(),
            session: session.clone(),
            next: Some(at),
            bare: false,
            limit: FIRST_EVENTS,
            page: Vec::new().into_iter(),
        }
    }

    /// The places and counts of a session's events from `at` on, without their `data`.
    #[must_use]
    pub(crate) fn bare_events(&self, session: &SessionId, at: At) -> Events {
        Events { bare: true, ..self.events(session, at) }
    }

    /// One event, where there is one.
    pub(crate) fn event_at(&self, session: &SessionId, at: At) -> Result<Option<Stored>> {
        let query = Query { at, direction: Direction::Forward, limit: 1, bare: true };
        Ok(self.store().read(session, &query)?.events.pop())
    }
}

impl Events {
    fn turn_page(&mut self) -> Result<()> {
        while let Some(at) = self.next.take() {
            let query =
                Query { at, direction: Direction::Forward, limit: self.limit, bare: self.bare };
            self.limit = PAGE_EVENTS;
            let page = self.store.read(&self.session, &query)?;
            if let Some(last) = page.events.last() {
                self.next = page.more.then_some(At::Seq(last.seq + 1));
                self.page = page.events.into_iter();
                break;
            }
        }
        Ok(())
    }
}

impl Iterator for Events {
    type Item = Result<Stored>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.page.len() == 0
            && let Err(error) = self.turn_page()
        {
            return Some(Err(error));
        }
        self.page.next().map(Ok)
    }
}
