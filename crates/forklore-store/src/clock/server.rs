//! The clock of the server, also while the server does not answer.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;

/// For how long the time is reckoned although the server could be asked.
const RECENT: Duration = Duration::from_secs(2);

/// The last time that the server stated, and when it did.
///
/// While the server does not answer, its time is reckoned from there. The wall clock of this machine
/// may be set wrong, so it is never used instead.
pub struct ServerClock(Mutex<(Timestamp, Instant)>);

impl ServerClock {
    /// Creates a clock. `now` is the time that the server states now.
    #[must_use]
    pub fn new(now: Timestamp) -> Self {
        Self(Mutex::new((now, Instant::now())))
    }

    /// Notes the time that the server stated after `sent`, when the question was sent. An answer that
    /// was overtaken by a later statement does not set the clock back: what expired by that statement
    /// would be valid again.
    pub fn set(&self, now: Timestamp, sent: Instant) {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (stated, at) = *last;
        let is_overtaken = at > sent;
        if !is_overtaken || stated.saturating_add(at.elapsed()).unwrap_or(stated) < now {
            *last = (now, Instant::now());
        }
    }

    /// Notes a time that the server's clock has shown, unless the clock is reckoned to be later.
    pub fn advance(&self, shown: Timestamp) {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (stated, at) = *last;
        if stated.saturating_add(at.elapsed()).unwrap_or(stated) < shown {
            *last = (shown, Instant::now());
        }
    }

    /// Returns what the server's clock shows, if it stated its time a moment ago.
    #[must_use]
    pub fn recent(&self) -> Option<Timestamp> {
        let (stated, at) = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let since = at.elapsed();
        (since < RECENT).then(|| stated.saturating_add(since).unwrap_or(stated))
    }

    /// Returns what the server's clock shows if it went on as that of this machine.
    #[must_use]
    pub fn reckoned(&self) -> Timestamp {
        let (stated, at) = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        stated.saturating_add(at.elapsed()).unwrap_or(stated)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_goes_on_from_what_the_server_stated() {
        let stated: Timestamp = "2001-02-03T04:05:06Z".parse().unwrap();
        let clock = ServerClock::new(stated);
        let first = clock.reckoned();
        assert!(stated <= first && first < stated + Duration::from_secs(60), "{first}");
        assert!(first <= clock.reckoned());
        let later = stated + Duration::from_secs(3600);
        let sent = Instant::now();
        clock.set(later, sent);
        assert!(clock.reckoned() >= later);
        // An answer to an earlier question came late.
        clock.set(stated, sent);
        assert!(clock.reckoned() >= later);
        clock.advance(stated);
        assert!(clock.reckoned() >= later);
        clock.advance(later + Duration::from_secs(60));
        assert!(clock.reckoned() >= later + Duration::from_secs(60));
        // The clock of the server was set back.
        clock.set(stated, Instant::now());
        assert!(clock.reckoned() < later);
    }
}
