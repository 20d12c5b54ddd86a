//! Queries: events of one session, and headers of many.

use forklore_core::workspace::Workspace;
use forklore_core::{Counts, Event, EventId, Header, Label, Origin, SessionId, SessionKind};
use jiff::Timestamp;

use crate::error::{Error, Result};

/// Selects the events to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// The event to begin with.
    pub at: At,
    /// Whether to read towards the end or towards the beginning.
    pub direction: Direction,
    /// The maximum number of events in the page, at least 1. A store may return fewer to bound
    /// memory.
    pub limit: usize,
    /// Whether to omit `data` (it reads as `null`), for callers that need positions and counts
    /// only.
    pub bare: bool,
}

/// The position of an event in the assembled history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum At {
    /// The event at this log position, or the next one in the direction of reading.
    Seq(u64),
    /// The inheritable event with this number, from 1.
    Inheritable(u64),
    /// The conversation event with this index, from 0.
    Index(u64),
    /// The event that starts this turn, from 1.
    Turn(u64),
    /// Every event with this id, in order, whatever the direction.
    Id(EventId),
}

/// The direction in which a page is read, which is also the order of its events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Ascending seq.
    Forward,
    /// Descending seq.
    Backward,
}

/// A page of events.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    /// The events, in the order of reading; empty if there is nothing at the requested position.
    pub events: Vec<LogEntry>,
    /// Whether more events follow in that direction.
    pub more: bool,
}

/// An event as part of the session that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct LogEntry {
    /// Its seq in the session that was read.
    pub seq: u64,
    /// Where it was first written.
    pub origin: Origin,
    /// The counts of the session's history up to and including it.
    pub counts: Counts,
    /// The event.
    pub event: Event,
}

/// Selects the sessions to list. A session must match all conditions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only sessions of this family.
    pub family: Option<SessionId>,
    /// Only sessions of this workspace.
    pub workspace: Option<Workspace>,
    /// Only children of this session.
    pub parent: Option<SessionId>,
    /// Only sessions with this label.
    pub label: Option<Label>,
    /// Only sessions whose id begins or ends with this text.
    pub id_part: Option<String>,
    /// Only sessions of these kinds; empty means all kinds.
    pub kinds: Vec<SessionKind>,
    /// Only sessions updated at or after this time.
    pub since: Option<Timestamp>,
    /// Whether to include deleted sessions.
    pub deleted: bool,
}

/// The headers that match a filter, and the errors of those that cannot be read.
#[derive(Debug, Default)]
pub struct Headers {
    /// The readable headers, in order.
    pub sound: Vec<Header>,
    /// The error of each header that cannot be read, with its location. Later pages may repeat
    /// them.
    pub damaged: Vec<Error>,
}

impl Headers {
    /// Returns the headers, for a caller that needs all of them.
    ///
    /// # Errors
    /// The first damage.
    pub fn all(self) -> Result<Vec<Header>> {
        self.damaged.into_iter().next().map_or(Ok(self.sound), Err)
    }
}

/// The position after the last header of a page of [`crate::Store::sessions`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// The update time of that session.
    pub updated: Timestamp,
    /// The id of that session.
    pub id: SessionId,
}
