//! `load`: reads a session with its whole history, to continue the session.

use forklore_core::{Header, SessionId};
use forklore_store::port::{At, LogEntry};

use crate::{Engine, Result};

/// A session's header and its whole history, including the inherited events.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    /// The session's header. Pass its `head_seq()` as the expected head of the next append.
    pub header: Header,
    /// The events of the whole history in ascending seq, including inherited events.
    pub events: Vec<LogEntry>,
}

impl Engine {
    /// Reads a session's header and all its events. If the history may not fit in memory, use
    /// [`Engine::events`].
    ///
    /// # Errors
    /// `not_found` if the session does not exist or was deleted, `corrupt` if stored data is
    /// damaged, `missing_ancestor` if inherited events are missing. If an event cannot be read,
    /// returns an error instead of a shorter history.
    pub fn load(&self, session: &SessionId) -> Result<Loaded> {
        let header = self.show(session)?;
        let last = header.head_seq();
        let mut events = Vec::with_capacity(usize::try_from(last + 1).unwrap_or(0).min(1 << 20));
        for stored in self.events(session, At::Seq(0)) {
            let stored = stored?;
            // Another writer may append during the read. Stop at the head in the header.
            if i64::try_from(stored.seq).is_ok_and(|seq| seq > last) {
                break;
            }
            events.push(stored);
        }
        Ok(Loaded { header, events })
    }
}
