//! Streams a session's events in constant memory, one page of the store at a time.

use std::sync::Arc;

use forklore_core::{ErrorKind, SessionId};
use forklore_store::Store;
use forklore_store::port::{At, Direction, LogEntry, Page, Query};

use crate::{Engine, Result};

/// Number of events in the first page that an event iterator reads. The page is small so that the
/// first event arrives at once.
const FIRST_EVENTS: usize = 16;
const PAGE_EVENTS: usize = 512;

/// Iterates over a session's events in ascending seq. Ends after the first error.
pub struct Events {
    store: Arc<dyn Store>,
    session: SessionId,
    /// Whether the session may be in the trash.
    in_trash: bool,
    /// The position at which the next page of events starts; `None` after the last page.
    next: Option<At>,
    /// The maximum number of events in the next page.
    limit: usize,
    /// Whether a read failed because of damaged data. After that, the iterator reads only small
    /// pages.
    near_damage: bool,
    page: std::vec::IntoIter<LogEntry>,
}

impl Engine {
    /// Iterates over the events of a session from the position `at` to the head. Reads one page at
    /// a time, so a history of any length needs constant memory.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use forklore_engine::{Create, Engine, NewEvent};
    /// # use forklore_core::workspace::Workspace;
    /// use forklore_store::port::At;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let engine = Engine::new(Arc::new(forklore_store::memory::MemoryStore::default()));
    /// # let session = engine.create(&Create::in_workspace(Workspace::new("/work/demo")))?.id;
    /// # engine.append(&session, &NewEvent::user("first")?.into())?;
    /// # engine.append(&session, &NewEvent::assistant("second")?.into())?;
    /// let mut bytes = 0;
    /// for stored in engine.events(&session, At::Index(1)) {
    ///     bytes += stored?.event.data.get().len();
    /// }
    /// assert_eq!(bytes, r#"{"content":"second"}"#.len());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// An item may be an error: `not_found`, `corrupt`, `missing_ancestor`. The iterator first
    /// returns all events before the error, and ends after the error.
    #[must_use]
    pub fn events(&self, session: &SessionId, at: At) -> Events {
        Events {
            store: self.store.clone(),
            session: session.clone(),
            in_trash: false,
            next: Some(at),
            limit: FIRST_EVENTS,
            near_damage: false,
            page: Vec::new().into_iter(),
        }
    }

    /// Iterates like [`events`](Self::events), also over a session in the trash.
    pub(crate) fn events_in_trash(&self, session: &SessionId, at: At) -> Events {
        Events { in_trash: true, ..self.events(session, at) }
    }

    /// Returns the event at the position `at`, without its `data`. Returns `None` if there is none.
    pub(crate) fn event_at(&self, session: &SessionId, at: At) -> Result<Option<LogEntry>> {
        let query = Query { at, direction: Direction::Forward, limit: 1, bare: true };
        Ok(self.store().read(session, &query)?.events.pop())
    }
}

impl Events {
    fn turn_page(&mut self) -> Result<()> {
        while let Some(at) = self.next.take() {
            let page = self.read(&at)?;
            if let Some(last) = page.events.last() {
                self.next = page.more.then_some(At::Seq(last.seq + 1));
                self.page = page.events.into_iter();
                break;
            }
        }
        Ok(())
    }

    /// Reads the page of events that starts at the position `at`. If an event of the page is
    /// damaged, halves the page size until the events before the damaged one can be read.
    fn read(&mut self, at: &At) -> Result<Page> {
        loop {
            let limit = self.limit;
            let query = Query { at: at.clone(), direction: Direction::Forward, limit, bare: false };
            let page = match self.in_trash {
                true => self.store.read_in_trash(&self.session, &query),
                false => self.store.read(&self.session, &query),
            };
            match page {
                Err(error) if limit > 1 && is_damage(error.kind()) => {
                    self.near_damage = true;
                    self.limit = limit / 2;
                }
                Err(error) => return Err(error.into()),
                Ok(page) => {
                    if !self.near_damage {
                        self.limit = PAGE_EVENTS;
                    }
                    return Ok(page);
                }
            }
        }
    }
}

fn is_damage(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::Corrupt | ErrorKind::MissingAncestor)
}

impl Iterator for Events {
    type Item = Result<LogEntry>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        // The caller's own code takes the event out of the page, so that it is copied only once.
        if let Some(stored) = self.page.next() {
            return Some(Ok(stored));
        }
        match self.turn_page() {
            Ok(()) => self.page.next().map(Ok),
            Err(error) => Some(Err(error)),
        }
    }
}
