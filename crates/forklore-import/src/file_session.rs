//! The sessions of a file while it is read.

use forklore_core::{Header, SessionId};
use jiff::Timestamp;

/// A session of the file.
#[derive(Clone, Debug)]
pub(crate) struct FileSession {
    pub(crate) id: SessionId,
    /// Its own events that came from the file, those about to be written included.
    pub(crate) events: u64,
    pub(crate) inherited: u64,
    /// Whether its first event says where it was forked.
    pub(crate) forked: bool,
    pub(crate) following: Following,
    /// How many of its events came this time.
    pub(crate) appended: u64,
    pub(crate) updated: Timestamp,
}

/// Whether records of the file may be added to a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Following {
    /// It follows its file.
    Follows,
    /// Somebody went on in it here, so that it no longer follows its file.
    Continued,
    /// It was deleted; what would have gone there is passed over.
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

    /// Whether it has nothing of the file yet, and nothing of another session.
    pub(crate) fn is_empty(&self) -> bool {
        self.inherited == 0 && self.events == u64::from(self.forked)
    }

    /// Its last log position, -1 when it is empty.
    pub(crate) fn head(&self) -> i64 {
        i64::try_from(self.inherited + self.events).unwrap_or(i64::MAX) - 1
    }

    /// The position of its last event from the file.
    pub(crate) fn tip(&self) -> Option<u64> {
        self.events.checked_sub(1)
    }
}
