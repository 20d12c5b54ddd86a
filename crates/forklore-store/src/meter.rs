//! Counts what a program does with its store, for the people who operate it.
//!
//! A [`Meter`] has counters, gauges and the durations of calls. [`Metered`] is a store that counts
//! the calls to another one. A store that has something of its own to count, such as the connections
//! to a server, has a meter itself ([`Store::meter`](crate::Store::meter)), and `Metered` uses that.

mod metered;

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

pub use metered::Metered;

/// Something that a program counts from its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counter {
    /// Appends that were committed.
    Appends,
    /// Forks that were committed.
    Forks,
    /// Commits that were refused because another writer was faster.
    Conflicts,
    /// Commits that failed because of the store, and not because of what was written.
    Failures,
    /// Transactions that were begun anew.
    Retries,
    /// Commits of which the connection broke before their outcome was known.
    UnknownOutcomes,
    /// Changes that the feed returned.
    Changes,
}

/// Something that a program has at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gauge {
    /// Connections to the server that are open.
    Open,
    /// Connections that a call uses.
    InUse,
    /// Calls that wait for a connection.
    Waiting,
}

/// Something that takes time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timing {
    /// A commit.
    Commit,
    /// A read of a session.
    Read,
    /// From a write until the feed returned it, by the clock of the store.
    FeedLag,
}

/// The upper bounds of the classes of durations, in milliseconds.
pub const BOUNDS: [u64; 13] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000];

/// How often durations were in each class, and their sum.
#[derive(Debug, Default)]
struct Durations {
    /// The last class has what is longer than every bound.
    classes: [AtomicU64; BOUNDS.len() + 1],
    micros: AtomicU64,
}

/// The counts of one program.
#[derive(Debug, Default)]
pub struct Meter {
    counters: [AtomicU64; 7],
    gauges: [AtomicI64; 3],
    timings: [Durations; 3],
}

impl Meter {
    /// Counts `more` of something.
    pub fn count(&self, counter: Counter, more: u64) {
        if let Some(count) = self.counters.get(counter as usize) {
            count.fetch_add(more, Ordering::Relaxed);
        }
    }

    /// Changes a gauge.
    pub fn change(&self, gauge: Gauge, by: i64) {
        if let Some(value) = self.gauges.get(gauge as usize) {
            value.fetch_add(by, Ordering::Relaxed);
        }
    }

    /// Adds a duration.
    pub fn time(&self, timing: Timing, duration: Duration) {
        let Some(durations) = self.timings.get(timing as usize) else { return };
        let fits = |bound: &u64| duration <= Duration::from_millis(*bound);
        let class = BOUNDS.iter().position(fits).unwrap_or(BOUNDS.len());
        if let Some(class) = durations.classes.get(class) {
            class.fetch_add(1, Ordering::Relaxed);
        }
        let micros = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        durations.micros.fetch_add(micros, Ordering::Relaxed);
    }

    /// Returns a counter.
    #[must_use]
    pub fn counted(&self, counter: Counter) -> u64 {
        self.counters.get(counter as usize).map_or(0, |count| count.load(Ordering::Relaxed))
    }

    /// Returns a gauge.
    #[must_use]
    pub fn gauged(&self, gauge: Gauge) -> i64 {
        self.gauges.get(gauge as usize).map_or(0, |value| value.load(Ordering::Relaxed))
    }

    /// Returns how many durations were at most as long as each of [`BOUNDS`], then the number of all
    /// durations, and their sum.
    #[must_use]
    pub fn timed(&self, timing: Timing) -> (Vec<u64>, Duration) {
        let Some(durations) = self.timings.get(timing as usize) else { return <_>::default() };
        let mut sum = 0;
        let add = |class: &AtomicU64| {
            sum += class.load(Ordering::Relaxed);
            sum
        };
        let up_to = durations.classes.iter().map(add).collect();
        (up_to, Duration::from_micros(durations.micros.load(Ordering::Relaxed)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_counted_up_to_each_bound() {
        let meter = Meter::default();
        for millis in [0, 1, 3, 60_000] {
            meter.time(Timing::Commit, Duration::from_millis(millis));
        }
        let (up_to, sum) = meter.timed(Timing::Commit);
        assert_eq!(up_to, [2, 2, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 4]);
        assert_eq!(sum, Duration::from_millis(60_004));
        assert_eq!(meter.timed(Timing::Read), (vec![0; 14], Duration::ZERO));
    }
}
