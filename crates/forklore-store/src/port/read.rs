//! Types to read events of one session, and to list the headers of many sessions.

use forklore_core::workspace::Workspace;
use forklore_core::{Counts, Event, EventId, Header, Label, Origin, SessionId, SessionKind};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// Selects the events of one session to read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Query {
    /// The position of the first event to read.
    pub at: At,
    /// Whether to read towards the end or towards the beginning of the history.
    pub direction: Direction,
    /// The maximum number of events in the page, at least 1. A store may return fewer events, to
    /// limit memory or to read each block of stored events only once.
    pub limit: usize,
    /// Whether to omit the payloads, so that the `data` of each event is `null`. This is for
    /// callers that need only positions and counts.
    pub bare: bool,
}

/// The position of an event in the history of a session, i.e. among its inherited and its own
/// events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum At {
    /// The event at this log position (seq). If there is no such event, reading begins at the next
    /// one in the direction of reading.
    Seq(u64),
    /// The inheritable event (an event that forks inherit) with this number, counted from 1.
    Inheritable(u64),
    /// The conversation event (message, tool call or tool result) with this index, counted from 0.
    Index(u64),
    /// The event that starts this turn. Turns count from 1.
    Turn(u64),
    /// Every event with this id, in ascending order of seq. The query's direction is ignored.
    Id(EventId),
}

/// The direction in which a page is read, which is also the order of its events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// In the order of ascending seq.
    Forward,
    /// In the order of descending seq.
    Backward,
}

/// A page of events from the history of one session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Page {
    /// The events of the page, in the order of reading. Empty if no event is at the requested
    /// position or follows it in the direction of reading.
    pub events: Vec<LogEntry>,
    /// Whether more events follow in the direction of reading.
    pub more: bool,
}

/// An event in the history of the session that was read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Filter {
    /// Selects the family (a root session and its descendants) with this root. `None` selects all
    /// families.
    pub family: Option<SessionId>,
    /// Selects the sessions of this workspace. `None` selects the sessions of all workspaces.
    pub workspace: Option<Workspace>,
    /// Selects the children of this session. `None` selects sessions whether or not they have a
    /// parent.
    pub parent: Option<SessionId>,
    /// Selects the sessions with this label. `None` selects sessions with any label.
    pub label: Option<Label>,
    /// Selects the sessions whose id begins or ends with this string. `None` selects sessions with
    /// any id.
    pub id_part: Option<String>,
    /// Selects the sessions whose title begins with this text. Upper and lower case and spaces
    /// around the title make no difference. `None` selects sessions with any title and without one.
    pub title_prefix: Option<String>,
    /// Selects the sessions of these kinds. An empty list selects all kinds.
    pub kinds: Vec<SessionKind>,
    /// Selects the sessions that were updated at or after this time. `None` selects all times.
    pub since: Option<Timestamp>,
    /// Whether to select deleted sessions too.
    pub deleted: bool,
    /// Whether to select only the sessions in the trash, whatever `deleted` says.
    pub trash: bool,
}

/// A page of headers that match a filter, and the errors of the headers that cannot be read.
#[derive(Debug, Default)]
pub struct Headers {
    /// The headers that could be read, the most recently updated first.
    pub sound: Vec<Header>,
    /// The errors of the headers that cannot be read, each with the header's location. Later pages
    /// may repeat these errors.
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

/// A position in the list of [`crate::Store::sessions`]: directly after the session with this
/// update time and id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cursor {
    /// The update time of the session directly before this position in the list.
    pub updated: Timestamp,
    /// The id of the session directly before this position in the list.
    pub id: SessionId,
}
