//! `load`: a session to go on with (SPEC 7).

use forklore_core::{Header, SessionId};
use forklore_store::port::{At, LogEntry};

use crate::{Engine, Result};

/// A session with its whole assembled history.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    /// Its header; `head_seq()` is what the next append should expect.
    pub header: Header,
    /// Its events, inherited ones included.
    pub events: Vec<LogEntry>,
}

impl Engine {
    /// Reads a session whole. For histories that may not fit in memory see [`Engine::events`]
    /// (SPEC 7).
    ///
    /// # Errors
    /// `not_found`, `corrupt`, `missing_ancestor`: never a silently shorter history.
    pub fn load(&self, session: &SessionId) -> Result<Loaded> {
        let header = self.show(session)?;
        let last = header.head_seq();
        let mut events = Vec::with_capacity(usize::try_from(last + 1).unwrap_or(0).min(1 << 20));
        for stored in self.events(session, At::Seq(0)) {
            let stored = stored?;
            // Somebody may append while we read: the history loaded ends where its header says.
            if i64::try_from(stored.seq).is_ok_and(|seq| seq > last) {
                break;
            }
            events.push(stored);
        }
        Ok(Loaded { header, events })
    }
}
