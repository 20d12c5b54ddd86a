//! Reads an assembled history, a page at a time.

use forklore_core::SessionId;
use forklore_core::lineage::Unit;
use forklore_store::Result;
use forklore_store::port::{At, Direction, LogEntry, Page, Query};

use crate::folder::Folder;
use crate::history::History;
use crate::log::Next;
use crate::session::Session;

/// Size at which a page of read events is complete: the total length of their payloads in bytes.
/// The event that reaches this size is still included.
const PAGE_BYTES: usize = 8 << 20;

/// Reads a page of a session's history: the events that `query` selects.
pub(crate) fn page(folder: &Folder, id: &SessionId, query: &Query) -> Result<Page> {
    page_of(folder, &folder.living(id)?, query)
}

/// Reads like [`page`], but also a session in the trash.
pub(crate) fn page_in_trash(folder: &Folder, id: &SessionId, query: &Query) -> Result<Page> {
    page_of(folder, &folder.unerased(id)?, query)
}

fn page_of(folder: &Folder, session: &Session, query: &Query) -> Result<Page> {
    let history = History::of(folder, session);
    if let At::Id(event) = &query.at {
        return named(&history, event, query);
    }
    let head = session.header.head_seq();
    let Some(start) = start(&history, query, head)? else {
        return Ok(Page::default());
    };
    let mut page = Page::default();
    let mut bytes = 0;
    let show = |stored: LogEntry| {
        bytes += stored.event.data.get().len();
        page.events.push(stored);
        let full = page.events.len() >= query.limit.max(1) || bytes >= PAGE_BYTES;
        Ok(if full { Next::Stop } else { Next::Go })
    };
    match query.direction {
        Direction::Forward => history.walk(start, query.bare, show)?,
        Direction::Backward => history.walk_back(start, query.bare, show)?,
    }
    page.more = match (query.direction, page.events.last()) {
        (_, None) => false,
        (Direction::Forward, Some(last)) => last.seq < head.unsigned_abs(),
        (Direction::Backward, Some(last)) => last.seq > 0,
    };
    Ok(page)
}

/// Returns the seq of the first event that a query must return. Returns `None` if the history has
/// no such event.
fn start(history: &History<'_>, query: &Query, head: i64) -> Result<Option<u64>> {
    let Ok(last) = u64::try_from(head) else {
        return Ok(None);
    };
    match &query.at {
        At::Seq(seq) if *seq <= last => Ok(Some(*seq)),
        At::Seq(_) if query.direction == Direction::Backward => Ok(Some(last)),
        At::Seq(_) | At::Id(_) => Ok(None),
        At::Inheritable(number) => history.seq_of(Unit::Inheritable, *number),
        At::Index(index) => history.seq_of(Unit::Index, index.saturating_add(1)),
        At::Turn(turn) => history.seq_of(Unit::Turns, *turn),
    }
}

/// Reads the events whose event id is `id`. Searches the whole history, because several events may
/// have the same id.
fn named(history: &History<'_>, id: &forklore_core::EventId, query: &Query) -> Result<Page> {
    let mut page = Page::default();
    history.walk(0, query.bare, |stored| {
        if stored.event.id != *id {
            return Ok(Next::Go);
        }
        page.more = page.events.len() >= query.limit.max(1);
        if page.more {
            return Ok(Next::Stop);
        }
        page.events.push(stored);
        Ok(Next::Go)
    })?;
    Ok(page)
}
