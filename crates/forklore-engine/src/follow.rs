//! Follows a session: a commit to the session by any process wakes the follower.

use std::time::{Duration, Instant};

use forklore_core::SessionId;
use forklore_store::port::{SessionChange, Since};

use crate::{Engine, Result};

/// How long one wait for a change lasts: one hour. [`Follower::next_change`] repeats the wait until
/// the session changes.
const WAIT: Duration = Duration::from_secs(3600);

/// Waits for changes of one session that happen after the follower was created.
pub struct Follower<'e> {
    engine: &'e Engine,
    session: SessionId,
    since: Since,
}

impl Engine {
    /// Creates a follower that waits for changes of a session. It reports the changes that happen
    /// after this call. Read the session after this call, not before: a change between an earlier
    /// read and this call would be missed.
    ///
    /// # Errors
    /// - `not_found`: the store was deleted.
    /// - `unsupported`: the store is read-only and was created by a version without change feeds.
    pub fn follow(&self, session: &SessionId) -> Result<Follower<'_>> {
        let now = self.store().changes(&Since::Now, 0, Duration::ZERO)?;
        Ok(Follower { engine: self, session: session.clone(), since: Since::Mark(now.mark) })
    }
}

impl Follower<'_> {
    /// Waits until any process commits something to the session, and returns the change.
    ///
    /// # Errors
    /// `not_found` if the store was deleted, or the error of reading the store's change feed.
    pub fn next_change(&mut self) -> Result<SessionChange> {
        loop {
            if let Some(change) = self.next_change_within(WAIT)? {
                return Ok(change);
            }
        }
    }

    /// Waits until any process commits something to the session, but at most for `wait`. Returns
    /// the change, or `None` if nothing was committed.
    ///
    /// # Errors
    /// `not_found` if the store was deleted, or the error of reading the store's change feed.
    pub fn next_change_within(&mut self, wait: Duration) -> Result<Option<SessionChange>> {
        let began = Instant::now();
        loop {
            let left = wait.saturating_sub(began.elapsed());
            let page = self.engine.store().changes(&self.since, 0, left)?;
            self.since = Since::Mark(page.mark);
            let mut sessions = page.sessions.into_iter();
            let change = sessions.find(|change| change.session == self.session);
            if change.is_some() || left.is_zero() {
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
