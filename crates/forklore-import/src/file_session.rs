//! The sessions of a file while it is read.

use forklore_core::{Header, SessionId};
use jiff::Timestamp;

/// A session of the file.
#[derive(Clone, Debug)]
pub(crate) struct FileSession {
    pub(crate) id: SessionId,
    /// Number of its own events that came from the file, including those about to be written, and
    /// its `session_fork` event.
    pub(crate) events: u64,
    pub(crate) inherited: u64,
    /// Whether its first event is a `session_fork`.
    pub(crate) forked: bool,
    pub(crate) following: Following,
    /// Number of its events that this import added.
    pub(crate) appended: u64,
    pub(crate) updated: Timestamp,
}

/// Whether records of the file may be added to a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Following {
    /// The session follows its file.
    Follows,
    /// The session was continued here, so it no longer follows its file.
    Continued,
    /// The session was deleted; its further records are skipped.
    Deleted,
}

impl FileSession {
    pub(crate) fn stored(header: &Header, events: u64) -> Self {
        let following = if header.deleted.is_some() {
            Following::Deleted
        } else if header.own_events > events {
            Following::Continued
        } else {
            Following::Follows
        };
        Self {
            id: header.id.clone(),
            events,
            inherited: header.inherited.inheritable,
            forked: header.parent_id.is_some(),
            following,
            appended: 0,
            updated: header.updated,
        }
    }

    /// Checks whether the session has no records from the file and no inherited events.
    pub(crate) fn is_empty(&self) -> bool {
        self.inherited == 0 && self.events == u64::from(self.forked)
    }

    /// Returns its last log position; -1 if it is empty.
    pub(crate) fn head(&self) -> i64 {
        i64::try_from(self.inherited + self.events).unwrap_or(i64::MAX) - 1
    }

    /// Returns the position of its last event from the file.
    pub(crate) fn tip(&self) -> Option<u64> {
        self.events.checked_sub(1)
    }
}
