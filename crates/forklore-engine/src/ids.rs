//! Ids of new sessions and events.

use forklore_core::{EventId, SessionId};

use crate::Engine;

impl Engine {
    /// Generates a new session id. `fork` and `create` use such an id if the request contains none.
    #[must_use]
    pub fn new_id(&self) -> SessionId {
        SessionId::generate(self.unix_millis(), self.random())
    }

    /// Generates an id for an event whose writer gave no id.
    pub(crate) fn new_event_id(&self) -> EventId {
        EventId::generate(self.unix_millis(), self.random())
    }

    pub(crate) fn unix_millis(&self) -> u64 {
        u64::try_from(self.now().as_millisecond()).unwrap_or(0)
    }
}
