//! What a caller reads: events of a session, and headers of many.

use forklore_core::workspace::Workspace;
use forklore_core::{Counts, Event, EventId, Header, Label, Origin, SessionId, SessionKind};
use jiff::Timestamp;

use crate::error::{Error, Result};

/// Which events to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// The event to begin with.
    pub at: At,
    /// Towards the end, or towards the beginning.
    pub direction: Direction,
    /// The most events in the page, at least 1. A store may return fewer to bound memory.
    pub limit: usize,
    /// Leave out `data` (it reads `null`): for callers that want places and counts only.
    pub bare: bool,
}

/// An event's place in the assembled history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum At {
    /// The event at this log position, or the next one in the direction of reading.
    Seq(u64),
    /// The inheritable event of this number, from 1.
    Inheritable(u64),
    /// The conversation event of this index, from 0.
    Index(u64),
    /// The event that begins this turn, from 1.
    Turn(u64),
    /// Every event of this id, whatever the direction, in order.
    Id(EventId),
}

/// Which way a page is read. Events come in the order they are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Rising seq.
    Forward,
    /// Falling seq.
    Backward,
}

/// A page of events.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    /// The events, in the order of reading; empty when there is nothing at the place asked for.
    pub events: Vec<LogEntry>,
    /// Whether more follow in that direction.
    pub more: bool,
}

/// An event where a reader of one session finds it.
#[derive(Clone, Debug, PartialEq)]
pub struct LogEntry {
    /// Its number in the session read.
    pub seq: u64,
    /// Where it was first written.
    pub origin: Origin,
    /// The counts of the session's history up to and including it.
    pub counts: Counts,
    /// The event.
    pub event: Event,
}

/// Which sessions to list. Conditions add up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Sessions of this family only.
    pub family: Option<SessionId>,
    /// Sessions of this workspace only.
    pub workspace: Option<Workspace>,
    /// Children of this session only.
    pub parent: Option<SessionId>,
    /// Sessions of this label only.
    pub label: Option<Label>,
    /// Sessions whose id begins or ends like this only.
    pub id_part: Option<String>,
    /// Sessions of these kinds only; empty is all.
    pub kinds: Vec<SessionKind>,
    /// Sessions updated at or after this time only.
    pub since: Option<Timestamp>,
    /// Deleted sessions too.
    pub deleted: bool,
}

/// The headers that a filter asks for, and what of them cannot be read.
#[derive(Debug, Default)]
pub struct Headers {
    /// Those that can be read, in order.
    pub sound: Vec<Header>,
    /// Why each of the others cannot, naming its place; they may come again with a later page.
    pub damaged: Vec<Error>,
}

impl Headers {
    /// The headers, for a caller that cannot go on without one of them.
    ///
    /// # Errors
    /// The first damage.
    pub fn all(self) -> Result<Vec<Header>> {
        self.damaged.into_iter().next().map_or(Ok(self.sound), Err)
    }
}

/// The place behind the last header of a page of [`crate::Store::sessions`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// When that session was updated.
    pub updated: Timestamp,
    /// Its id.
    pub id: SessionId,
}
