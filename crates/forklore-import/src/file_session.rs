//! The state of one session of a file while the file is read.

use forklore_core::{Header, SessionId, SessionKind};
use forklore_store::port::NewSession;
use forklore_store::sources::RecordLocation;
use jiff::Timestamp;

/// The state of one session of the file that is being imported.
#[derive(Clone, Debug)]
pub(crate) struct FileSession {
    pub(crate) id: SessionId,
    /// Number of the session's own events that came from the file, including those not written yet.
    /// The `session_fork` event at the start of a forked session counts as well.
    pub(crate) events: u64,
    pub(crate) inherited: u64,
    /// Whether the session's first own event is a `session_fork`, which names its parent session.
    pub(crate) forked: bool,
    pub(crate) following: Following,
    /// Number of events that the present import added to the session.
    pub(crate) appended: u64,
    pub(crate) updated: Timestamp,
}

/// Whether an import may append further records of the file to a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Following {
    /// All own events of the session come from its file, so the import appends further records to
    /// it.
    Follows,
    /// Somebody continued the session in forklore. The import puts further records into a branch
    /// instead.
    Continued,
    /// The session was deleted, so the import skips further records of it.
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

    /// Creates the state of a session that the next import step creates.
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

    /// Counts an event that comes from the file, and returns the event's location. `number` is the
    /// number of the session in the file.
    pub(crate) fn add_event(&mut self, number: u32, ts: Timestamp) -> RecordLocation {
        let location = RecordLocation::own(number, self.events);
        self.updated = self.updated.max(ts);
        self.events += 1;
        self.appended += 1;
        location
    }

    /// Checks whether the session has no events, apart from a `session_fork` event that names its
    /// parent.
    pub(crate) fn is_empty(&self) -> bool {
        self.inherited == 0 && self.has_only_inherited()
    }

    /// Returns the seq of the session's last event. Ignores the events that were added in forklore
    /// after the import. Returns -1 if there is no other event.
    pub(crate) fn head(&self) -> i64 {
        i64::try_from(self.inherited + self.events).unwrap_or(i64::MAX) - 1
    }

    /// Returns the position of the last own event that an import added, counted from 0 among the
    /// session's own events. Returns `None` if an import added none.
    pub(crate) fn tip(&self) -> Option<u64> {
        self.events.checked_sub(1)
    }
    /// Checks whether the session has no own event, apart from the `session_fork` with which a
    /// forked session begins.
    pub(crate) fn has_only_inherited(&self) -> bool {
        self.events == u64::from(self.forked)
    }

    /// Checks whether `location` is the location of the session's last event. Considers only events
    /// that came from the file or are inherited.
    pub(crate) fn ends_at(&self, location: RecordLocation) -> bool {
        match location.inherited {
            false => self.tip() == Some(location.position),
            // `session_fork`, the session's own event at position 0, has seq 0. The inherited
            // events follow it, with seqs from 1.
            true => self.inherited == location.position && self.has_only_inherited(),
        }
    }
}
