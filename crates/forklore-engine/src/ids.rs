//! Ids of new sessions and events.

use forklore_api::IdStyle;
use forklore_core::{EventId, SessionId};

use crate::Engine;

impl Engine {
    /// Generates a new session id, a UUIDv8 that begins with random digits. `create` uses such an
    /// id if its request contains none, and so does `fork`, unless its request names another style
    /// of ids.
    #[must_use]
    pub fn new_id(&self) -> SessionId {
        SessionId::generate(self.unix_millis(), self.random())
    }

    /// Generates an id for a fork of `parent` whose request contains no id. `attempt` counts from
    /// 0; each further attempt gives another id.
    #[must_use]
    pub fn new_fork_id(&self, parent: &SessionId, style: IdStyle, attempt: u64) -> SessionId {
        match style {
            IdStyle::Uuid => self.new_id(),
            IdStyle::AkCoder => SessionId::of_fork(parent, self.unix_millis() + attempt),
        }
    }

    /// Generates an id for an event whose writer gave no id.
    pub(crate) fn new_event_id(&self) -> EventId {
        EventId::generate(self.unix_millis(), self.random())
    }

    pub(crate) fn unix_millis(&self) -> u64 {
        u64::try_from(self.now().as_millisecond()).unwrap_or(0)
    }
}
