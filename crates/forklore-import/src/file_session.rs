//! A session of a file while the file is read.

use forklore_core::{Header, SessionId, SessionKind};
use forklore_store::port::NewSession;
use forklore_store::sources::RecordLocation;
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

    /// Returns a session that is about to be created.
    pub(crate) fn created(new: &NewSession) -> Self {
        let branch = new.from.as_ref().filter(|_| new.kind == SessionKind::Branch);
        Self {
            id: new.id.clone(),
            events: new.events.len() as u64,
            inherited: branch.map_or(0, |from| from.cut.inheritable),
            forked: new.from.is_some(),
            following: Following::Follows,
            appended: 0,
            updated: new.created,
        }
    }

    /// Adds an event from the file, and returns its location. `number` is the number of the session
    /// in the file.
    pub(crate) fn add_event(&mut self, number: u32, ts: Timestamp) -> RecordLocation {
        let location = RecordLocation::own(number, self.events);
        self.updated = self.updated.max(ts);
        self.events += 1;
        self.appended += 1;
        location
    }

    /// Checks whether the session has no records from the file and no inherited events.
    pub(crate) fn is_empty(&self) -> bool {
        self.inherited == 0 && self.has_only_inherited()
    }

    /// Returns its last log position; -1 if it is empty.
    pub(crate) fn head(&self) -> i64 {
        i64::try_from(self.inherited + self.events).unwrap_or(i64::MAX) - 1
    }

    /// Returns the position of its last event from the file.
    pub(crate) fn tip(&self) -> Option<u64> {
        self.events.checked_sub(1)
    }
    /// Checks whether the session has no events of its own from the file.
    pub(crate) fn has_only_inherited(&self) -> bool {
        self.events == u64::from(self.forked)
    }

    /// Checks whether nothing follows the location.
    pub(crate) fn ends_at(&self, location: RecordLocation) -> bool {
        match location.inherited {
            false => self.tip() == Some(location.position),
            // The inherited events are followed by `session_fork`, the session's own event at
            // position 0.
            true => self.inherited == location.position && self.has_only_inherited(),
        }
    }
}
