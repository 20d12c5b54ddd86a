//! `playback`: replays the records of a session at their original pace.

use std::time::Duration;

use jiff::Timestamp;

/// The longest pause between two records in a playback at speed 1. A longer gap between the
/// original timestamps counts as this pause.
const LONGEST: Duration = Duration::from_secs(10);

/// Computes how long a playback waits before each record.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    speed: f64,
    last: Option<Timestamp>,
}

impl Pace {
    /// Creates a pace for a playback. A speed of 2 halves the original gaps between records.
    /// Returns `None` unless `speed` is finite and above 0.
    #[must_use]
    pub fn new(speed: f64) -> Option<Self> {
        (speed > 0.0 && speed.is_finite()).then_some(Self { speed, last: None })
    }

    /// Returns the pause before the record with the original timestamp `ts`: the gap since the
    /// previous record, divided by the speed. Returns 0 for the first record. An original gap of
    /// more than 10 s between two records counts as 10 s.
    pub fn before(&mut self, ts: Timestamp) -> Duration {
        let last = self.last.replace(ts).unwrap_or(ts);
        let gap = Duration::try_from(ts.duration_since(last)).unwrap_or(Duration::ZERO);
        gap.min(LONGEST).div_f64(self.speed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_halved_and_capped() {
        let at = |s: i64| Timestamp::from_second(s).unwrap();
        let mut pace = Pace::new(2.0).unwrap();
        let pauses = [100, 104, 103, 10_000].map(|s| pace.before(at(s)));
        let secs = [0, 2, 0, 5].map(Duration::from_secs);
        assert_eq!(pauses, secs);
        assert!(Pace::new(0.0).is_none() && Pace::new(f64::NAN).is_none());
    }
}
