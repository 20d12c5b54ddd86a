//! The sessions of a file while it is read.

use forklore_core::{Header, SessionId};
use jiff::Timestamp;

/// A session of the file.
#[derive(Clone, Debug)]
pub(super) struct FileSession {
    pub(super) id: SessionId,
    /// Its own events that came from the file, those about to be written included.
    pub(super) events: u64,
    pub(super) inherited: u64,
    /// Whether its first event says where it was forked.
    pub(super) forked: bool,
    pub(super) standing: Standing,
    /// How many of its events came this time.
    pub(super) appended: u64,
    pub(super) updated: Timestamp,
}

/// Whether records of the file may be added to a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// It follows its file.
    Follows,
    /// Somebody went on in it here, so that it no longer follows its file.
    Continued,
    /// It was deleted; what would have gone there is passed over.
    Deleted,
}

impl FileSession {
    pub(super) fn stored(header: &Header, events: u64) -> Self {
        let standing = if header.deleted.is_some() {
            Standing::Deleted
        } else if header.own_events > events {
            Standing::Continued
        } else {
            Standing::Follows
        };
        Self {
            id: header.id.clone(),
            events,
            inherited: header.inherited.kept,
            forked: header.parent_id.is_some(),
            standing,
            appended: 0,
            updated: header.updated,
        }
    }

    /// Whether it has nothing of the file yet, and nothing of another session.
    pub(super) fn is_empty(&self) -> bool {
        self.inherited == 0 && self.events == u64::from(self.forked)
    }

    /// Its last log position, -1 when it is empty.
    pub(super) fn head(&self) -> i64 {
        i64::try_from(self.inherited + self.events).unwrap_or(i64::MAX) - 1
    }

    /// The position of its last event from the file.
    pub(super) fn tip(&self) -> Option<u64> {
        self.events.checked_sub(1)
    }
}
