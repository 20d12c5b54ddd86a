//! What followers read: the events behind a position, as they are sent.

use std::time::Duration;

use axum::response::sse::Event;
use forklore::store::port::{At, Direction, Mark, Query, Since};
use forklore::{Engine, Error};
use forklore_core::SessionId;

use crate::api::line::line;
use crate::problem::Problem;

/// How many events are read and sent at once.
const PAGE: usize = 256;

/// A page, or why it cannot be read.
pub(crate) type Outcome = Result<Page, Problem>;

/// How far a follower is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Position {
    /// The seq of the next event of a session.
    Seq(SessionId, u64),
    /// The mark of the store's feed.
    Mark(Mark),
}

/// The events behind a position.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) events: Vec<Item>,
    /// The position behind these events.
    pub(crate) next: Position,
    /// Whether there are more events already.
    pub(crate) more: bool,
}

/// An event to be sent.
#[derive(Debug)]
pub(crate) struct Item {
    id: Option<String>,
    name: &'static str,
    data: String,
}

impl Page {
    /// Returns the page that tells a follower of the store at which mark it begins.
    pub(crate) fn begin(mark: Mark) -> Self {
        let id = Some(mark.as_str().to_owned());
        let begin = Item { id, name: "begin", data: "{}".to_owned() };
        Self { events: vec![begin], next: Position::Mark(mark), more: true }
    }
}

impl From<&Item> for Event {
    fn from(item: &Item) -> Self {
        let event = Self::default().event(item.name).data(&item.data);
        match &item.id {
            Some(id) => event.id(id),
            None => event,
        }
    }
}

impl Position {
    /// Reads what stands behind the position.
    pub(crate) fn read(&self, engine: &Engine) -> Result<Page, Error> {
        match self {
            Self::Seq(id, next) => session(engine, id, *next),
            Self::Mark(mark) => store(engine, mark),
        }
    }
}

/// Returns the mark of the feed behind the changes since `since`.
pub(crate) fn mark(engine: &Engine, since: &Since) -> Result<Mark, Error> {
    Ok(engine.store().changes(since, PAGE, Duration::ZERO)?.mark)
}

fn session(engine: &Engine, id: &SessionId, next: u64) -> Result<Page, Error> {
    let header = engine.show(id)?;
    let query =
        Query { at: At::Seq(next), direction: Direction::Forward, limit: PAGE, bare: false };
    let read = engine.store().read(id, &query)?;
    let mut events = Vec::with_capacity(read.events.len());
    let mut behind = next;
    for entry in &read.events {
        let data = line(&header, entry)?.get().to_owned();
        events.push(Item { id: Some(entry.seq.to_string()), name: "event", data });
        behind = entry.seq + 1;
    }
    Ok(Page { events, next: Position::Seq(id.clone(), behind), more: read.more })
}

fn store(engine: &Engine, mark: &Mark) -> Result<Page, Error> {
    let read = engine.store().changes(&Since::Mark(mark.clone()), PAGE, Duration::ZERO)?;
    let mut events = Vec::with_capacity(read.sessions.len());
    for change in &read.sessions {
        let data = serde_json::to_string(change).unwrap_or_default();
        events.push(Item { id: None, name: "session", data });
    }
    // All changes of a page have its mark: a client that saw half of it sees it again.
    if let Some(last) = events.last_mut() {
        last.id = Some(read.mark.as_str().to_owned());
    }
    Ok(Page { events, next: Position::Mark(read.mark), more: read.more })
}
