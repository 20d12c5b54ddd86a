//! Durations of a repeated operation, and the method of measuring several operations in turns.

use std::time::{Duration, Instant};

use crate::error::Result;

/// The measured durations of an operation, one per repetition.
#[derive(Clone, Debug, Default)]
pub(crate) struct Samples(Vec<Duration>);

impl Samples {
    pub(crate) fn add(&mut self, duration: Duration) {
        self.0.push(duration);
    }

    /// Adds the samples of another part of the same measurement.
    pub(crate) fn extend(&mut self, other: &Self) {
        self.0.extend_from_slice(&other.0);
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns a percentile: the smallest sample that is at least as large as `percent` percent of
    /// the samples.
    pub(crate) fn percentile(&self, percent: usize) -> Duration {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let rank = (sorted.len() * percent).div_ceil(100).max(1);
        sorted.get(rank - 1).copied().unwrap_or_default()
    }

    pub(crate) fn median(&self) -> Duration {
        self.percentile(50)
    }

    /// Returns the median of these samples divided by the median of `base`.
    pub(crate) fn over(&self, base: &Self) -> f64 {
        self.median().as_secs_f64() / base.median().as_secs_f64()
    }
}

impl std::fmt::Display for Samples {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [low, middle, high] = [10, 50, 90].map(|percent| formatted(self.percentile(percent)));
        write!(f, "{middle} ({low} to {high})")
    }
}

/// Formats a duration with up to three significant digits and a suitable unit.
pub(crate) fn formatted(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    let (value, unit) = match seconds {
        s if s >= 1.0 => (s, "s"),
        s if s >= 1e-3 => (s * 1e3, "ms"),
        s => (s * 1e6, "us"),
    };
    let digits = match value {
        v if v >= 100.0 => 0,
        v if v >= 10.0 => 1,
        _ => 2,
    };
    format!("{value:.digits$} {unit}")
}

/// Runs `work` once and returns how long it took.
pub(crate) fn timed<T>(work: impl FnOnce() -> Result<T>) -> Result<Duration> {
    let start = Instant::now();
    work()?;
    Ok(start.elapsed())
}

/// One of several operations whose durations are compared. Each call runs the operation once and
/// returns the duration of the part that is measured.
pub(crate) type Rival<'a> = Box<dyn FnMut() -> Result<Duration> + 'a>;

/// Measures several operations in alternation. Each round runs every operation once, and each round
/// starts with a different one, so that a disturbance of the machine affects all of them. Before
/// the `rounds` measured rounds, a tenth as many are run as warm-up.
pub(crate) fn in_turns(rounds: usize, rivals: &mut [Rival<'_>]) -> Result<Vec<Samples>> {
    let mut samples = vec![Samples::default(); rivals.len()];
    let warm_up = rounds / 10;
    for round in 0..warm_up + rounds {
        let first = round % rivals.len().max(1);
        let turns = (0..rivals.len()).cycle().skip(first).take(rivals.len());
        for turn in turns {
            let (Some(rival), Some(samples)) = (rivals.get_mut(turn), samples.get_mut(turn)) else {
                continue;
            };
            let took = rival()?;
            if round >= warm_up {
                samples.add(took);
            }
        }
    }
    Ok(samples)
}

/// Measures the operations `base` and `measured` in alternation, `rounds` times each. The caller
/// compares the durations of `measured` with those of `base`.
pub(crate) fn pair<'a>(
    rounds: usize,
    base: impl FnMut() -> Result<Duration> + 'a,
    measured: impl FnMut() -> Result<Duration> + 'a,
) -> Result<(Samples, Samples)> {
    let mut rivals: [Rival<'_>; 2] = [Box::new(base), Box::new(measured)];
    let mut samples = in_turns(rounds, &mut rivals)?.into_iter();
    Ok((samples.next().unwrap_or_default(), samples.next().unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    #[test]
    fn percentiles_are_samples() {
        let samples = Samples((1..=10).rev().map(Duration::from_millis).collect());
        let at = [1, 10, 11, 50, 90, 100].map(|percent| samples.percentile(percent).as_millis());
        assert_eq!(at, [1, 1, 2, 5, 9, 10]);
        assert_eq!(samples.to_string(), "5.00 ms (1.00 ms to 9.00 ms)");
        assert_eq!(Samples::default().median(), Duration::ZERO);
    }

    #[test]
    fn durations_have_three_digits() {
        let text = [123, 12_345, 1_234_567, 999_000_000, 61_000_000_000]
            .map(|nanos| formatted(Duration::from_nanos(nanos)));
        assert_eq!(text, ["0.12 us", "12.3 us", "1.23 ms", "999 ms", "61.0 s"]);
    }

    #[test]
    fn turns_alternate_and_warm_up() {
        let order = RefCell::new(String::new());
        let rival = |name: char| {
            let order = &order;
            move || {
                order.borrow_mut().push(name);
                Ok(Duration::from_secs(order.borrow().len() as u64))
            }
        };
        let (a, b) = pair(10, rival('a'), rival('b')).unwrap();
        assert_eq!(order.take(), "abba".repeat(6)[..22]);
        assert_eq!((a.0.len(), b.0.len()), (10, 10));
        assert_eq!(a.0[0], Duration::from_secs(4));
    }
}
