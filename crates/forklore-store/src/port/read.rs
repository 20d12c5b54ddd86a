//! Types to read events of one session, and to list the headers of many sessions.

use forklore_core::workspace::Workspace;
use forklore_core::{Counts, Event, EventId, Header, Label, Origin, SessionId, SessionKind};
use jiff::Timestamp;

use crate::error::{Error, Result};

/// Selects the events of one session to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// The position of the first event to read.
    pub at: At,
    /// Whether to read towards the end or towards the beginning.
    pub direction: Direction,
    /// The maximum number of events in the page, at least 1. A store may return fewer events, to
    /// limit memory.
    pub limit: usize,
    /// Whether to omit the payloads. Each `data` is then `null`. This is for callers that need only
    /// positions and counts.
    pub bare: bool,
}

/// The position of an event in the assembled history of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum At {
    /// The event at this log position (seq). If no event has this position, the next event in the
    /// direction of reading.
    Seq(u64),
    /// The inheritable event with this number, counted from 1.
    Inheritable(u64),
    /// The conversation event with this index, counted from 0.
    Index(u64),
    /// The event that starts this turn. Turns count from 1.
    Turn(u64),
    /// Every event with this id, in ascending order of seq. The query's direction is ignored.
    Id(EventId),
}

/// The direction in which a page is read, which is also the order of its events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// In the order of ascending seq.
    Forward,
    /// In the order of descending seq.
    Backward,
}

/// A page of events.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    /// The events, in the order of reading. Empty if no event is at the requested position or
    /// follows it in that order.
    pub events: Vec<LogEntry>,
    /// Whether more events follow in the direction of reading.
    pub more: bool,
}

/// An event in the history of the session that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct LogEntry {
    /// The event's seq in the session that was read.
    pub seq: u64,
    /// The session and seq where the event was first written.
    pub origin: Origin,
    /// The counts of the session's history up to and including this event.
    pub counts: Counts,
    /// The event.
    pub event: Event,
}

/// Selects the sessions to list. A session must match all conditions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only sessions of this family, which the id of its root identifies.
    pub family: Option<SessionId>,
    /// Only sessions of this workspace.
    pub workspace: Option<Workspace>,
    /// Only children of this session.
    pub parent: Option<SessionId>,
    /// Only sessions with this label.
    pub label: Option<Label>,
    /// Only sessions whose id begins or ends with this string.
    pub id_part: Option<String>,
    /// Only sessions of these kinds; empty means all kinds.
    pub kinds: Vec<SessionKind>,
    /// Only sessions updated at or after this time.
    pub since: Option<Timestamp>,
    /// Whether to include deleted sessions.
    pub deleted: bool,
}

/// A page of headers that match a filter, and the errors of the headers that cannot be read.
#[derive(Debug, Default)]
pub struct Headers {
    /// The headers that could be read, in the order of the list.
    pub sound: Vec<Header>,
    /// For each header that cannot be read, the error, with the header's location. Later pages may
    /// repeat these errors.
    pub damaged: Vec<Error>,
}

impl Headers {
    /// Returns the headers if every header could be read. Callers that need all headers use this.
    ///
    /// # Errors
    /// The error of the first header that could not be read.
    pub fn all(self) -> Result<Vec<Header>> {
        self.damaged.into_iter().next().map_or(Ok(self.sound), Err)
    }
}

/// A position in the list of [`crate::Store::sessions`]: after the session with these values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// The update time of the session before the position.
    pub updated: Timestamp,
    /// The id of the session before the position.
    pub id: SessionId,
}
