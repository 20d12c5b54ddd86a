//! `load`: reads a session to continue it.

use forklore_core::{Header, SessionId};
use forklore_store::port::{At, LogEntry};

use crate::{Engine, Result};

/// A session with its whole assembled history.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    /// The header. The next append should expect its `head_seq()`.
    pub header: Header,
    /// The events, inherited ones included.
    pub events: Vec<LogEntry>,
}

impl Engine {
    /// Reads a whole session. For histories that may not fit in memory see [`Engine::events`].
    ///
    /// # Errors
    /// `not_found`, `corrupt`, `missing_ancestor`. Never returns a silently shorter history.
    pub fn load(&self, session: &SessionId) -> Result<Loaded> {
        let header = self.show(session)?;
        let last = header.head_seq();
        let mut events = Vec::with_capacity(usize::try_from(last + 1).unwrap_or(0).min(1 << 20));
        for stored in self.events(session, At::Seq(0)) {
            let stored = stored?;
            // Another writer may append during the read: the history ends at the head in the
            // header.
            if i64::try_from(stored.seq).is_ok_and(|seq| seq > last) {
                break;
            }
            events.push(stored);
        }
        Ok(Loaded { header, events })
    }
}
