//! When a call is attempted again: after a race at once, and after a failure of the server with
//! growing pauses, until the call's time is over.

use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, Instant};

use crate::fault::Fault;

/// How often a transaction is begun anew because others were in its way.
const RACES: u32 = 40;
const SHORTEST_PAUSE: Duration = Duration::from_micros(500);
/// About the longest pause after a race.
const AFTER_RACE: Duration = Duration::from_millis(50);
/// About the longest pause while no server answers. A failover takes seconds.
const AFTER_BREAK: Duration = Duration::from_millis(400);

/// The attempts of one call.
pub(crate) struct Attempts {
    /// When the call must end.
    pub(crate) until: Instant,
    races: u32,
    breaks: u32,
}

impl Attempts {
    pub(crate) fn within(deadline: Duration) -> Self {
        Self { until: Instant::now() + deadline, races: 0, breaks: 0 }
    }

    /// Pauses before the next attempt. Returns false, at once, if there should be none.
    pub(crate) fn pause(&mut self, after: &Fault) -> bool {
        let pause = if after.is_of_race() {
            self.races += 1;
            if self.races >= RACES {
                return false;
            }
            pause(self.races, AFTER_RACE)
        } else if after.is_of_connection() && !matches!(after, Fault::Late) {
            self.breaks += 1;
            pause(self.breaks, AFTER_BREAK)
        } else {
            return false;
        };
        if Instant::now() + pause >= self.until {
            return false;
        }
        std::thread::sleep(pause);
        true
    }
}

/// Returns how long to wait: longer each time, and not the same for two calls that are in each
/// other's way or wait for the same server.
fn pause(attempt: u32, longest: Duration) -> Duration {
    let random = RandomState::new().hash_one(attempt) % 1_000;
    let longest = SHORTEST_PAUSE.saturating_mul(1 << attempt.min(10)).min(longest);
    longest.mul_f64(0.5 + random as f64 / 2_000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_goes_on_until_its_deadline_while_servers_are_missing() {
        let mut attempts = Attempts::within(Duration::from_millis(900));
        let mut number = 0;
        while attempts.pause(&Fault::OnlyHere) {
            number += 1;
        }
        assert!((5..40).contains(&number), "{number}");
    }

    #[test]
    fn what_is_late_or_refused_is_not_attempted_again() {
        let mut attempts = Attempts::within(Duration::from_secs(9));
        assert!(!attempts.pause(&Fault::Late));
        assert!(!attempts.pause(&Fault::damaged("s", None, "it is damaged")));
    }
}
