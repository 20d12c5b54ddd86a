//! The state of one session of a file while the file is read.

use forklore_core::{Header, SessionId, SessionKind};
use forklore_store::port::NewSession;
use forklore_store::sources::RecordLocation;
use jiff::Timestamp;

/// A session of the file that is being read.
#[derive(Clone, Debug)]
pub(crate) struct FileSession {
    pub(crate) id: SessionId,
    /// Number of the session's own events that came from the file, plus 1 for its `session_fork`
    /// event. Events that are not written yet count as well.
    pub(crate) events: u64,
    pub(crate) inherited: u64,
    /// Whether the session's first own event is a `session_fork`.
    pub(crate) forked: bool,
    pub(crate) following: Following,
    /// Number of the session's events that this import added.
    pub(crate) appended: u64,
    pub(crate) updated: Timestamp,
}

/// Whether an import may append records of the file to a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Following {
    /// The session has only events of its file, so the import appends to it.
    Follows,
    /// Somebody continued the session in forklore, so the import does not append to it.
    Continued,
    /// The session was deleted; the import skips its further records.
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

    /// Returns the state of a session that the next step creates.
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

    /// Counts an event from the file, and returns its location. `number` is the number of the
    /// session in the file.
    pub(crate) fn add_event(&mut self, number: u32, ts: Timestamp) -> RecordLocation {
        let location = RecordLocation::own(number, self.events);
        self.updated = self.updated.max(ts);
        self.events += 1;
        self.appended += 1;
        location
    }

    /// Checks whether the session has neither events from the file nor inherited events.
    pub(crate) fn is_empty(&self) -> bool {
        self.inherited == 0 && self.has_only_inherited()
    }

    /// Returns the seq of the session's last event; -1 if the session is empty.
    pub(crate) fn head(&self) -> i64 {
        i64::try_from(self.inherited + self.events).unwrap_or(i64::MAX) - 1
    }

    /// Returns the position of the last event from the file among the session's own events, from 0.
    pub(crate) fn tip(&self) -> Option<u64> {
        self.events.checked_sub(1)
    }
    /// Checks whether the session has no own event except its `session_fork`.
    pub(crate) fn has_only_inherited(&self) -> bool {
        self.events == u64::from(self.forked)
    }

    /// Checks whether the event at this location is the last event from the file in this session.
    pub(crate) fn ends_at(&self, location: RecordLocation) -> bool {
        match location.inherited {
            false => self.tip() == Some(location.position),
            // `session_fork`, the session's own event at position 0, has seq 0. The inherited
            // events follow it, with seqs from 1.
            true => self.inherited == location.position && self.has_only_inherited(),
        }
    }
}
