//! Following a session: what is written to it wakes its follower, whoever writes.

use std::time::Duration;

use forklore_core::SessionId;
use forklore_store::port::{SessionChange, Since};

use crate::{Engine, Result};

/// How long one wait is; a follower without anything to follow waits again and again.
const WAIT: Duration = Duration::from_secs(3600);

/// A follower of one session. It begins at the moment it is made.
pub struct Follower<'e> {
    engine: &'e Engine,
    session: SessionId,
    since: Since,
}

impl Engine {
    /// Follows a session from now on. Read what is there afterwards, and nothing is missed.
    ///
    /// # Errors
    /// `not_found` when the store is gone, `unsupported` when it is of before there were feeds and
    /// may not be written.
    pub fn follow(&self, session: &SessionId) -> Result<Follower<'_>> {
        let now = self.store().changes(&Since::Now, 0, Duration::ZERO)?;
        Ok(Follower { engine: self, session: session.clone(), since: Since::Mark(now.mark) })
    }
}

impl Follower<'_> {
    /// Waits until something was committed to the session, and says what.
    ///
    /// # Errors
    /// `not_found` when the store was deleted, or what reading it came to.
    pub fn next_change(&mut self) -> Result<SessionChange> {
        loop {
            let page = self.engine.store().changes(&self.since, 0, WAIT)?;
            self.since = Since::Mark(page.mark);
            let mut sessions = page.sessions.into_iter();
            if let Some(change) = sessions.find(|change| change.session == self.session) {
                return Ok(change);
            }
        }
    }
}

impl std::fmt::Debug for Follower<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Follower").field("session", &self.session).finish_non_exhaustive()
    }
}
