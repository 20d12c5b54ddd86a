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
pub(crate) struct Clock(Mutex<(Timestamp, Instant)>);

impl Clock {
    pub(crate) fn new(now: Timestamp) -> Self {
        Self(Mutex::new((now, Instant::now())))
    }

    /// Notes the time that the server states now.
    pub(crate) fn set(&self, now: Timestamp) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = (now, Instant::now());
    }

    /// Returns what the server's clock shows, if it stated its time a moment ago.
    pub(crate) fn recent(&self) -> Option<Timestamp> {
        let (stated, at) = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let since = at.elapsed();
        (since < RECENT).then(|| stated.saturating_add(since).unwrap_or(stated))
    }

    /// Returns what the server's clock shows if it went on as that of this machine.
    pub(crate) fn reckoned(&self) -> Timestamp {
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
        let clock = Clock::new(stated);
        let first = clock.reckoned();
        assert!(stated <= first && first < stated + Duration::from_secs(60), "{first}");
        assert!(first <= clock.reckoned());
        let later = stated + Duration::from_secs(3600);
        clock.set(later);
        assert!(clock.reckoned() >= later);
    }
}
