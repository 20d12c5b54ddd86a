//! The measurements: each one file, each giving its figures.

mod append;
mod copy;
mod family;
mod fork;
mod import;
mod length;
mod start;
pub(crate) mod writers;

use std::fmt;

use clap::ValueEnum;

use crate::error::Result;
use crate::figure::Figure;
use crate::scene::Scene;

/// What can be measured by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Measurement {
    /// Forks of short and long sessions, and copies of their files
    Length,
    /// Forks deep in a family and beside many siblings
    Family,
    /// Appends against writes to a plain file
    Append,
    /// Four processes that append at once
    Writers,
    /// Starts of the program on a store of many sessions
    Start,
    /// Imports of small and large session files
    Import,
}

impl Measurement {
    pub(crate) const ALL: [Self; 6] =
        [Self::Length, Self::Family, Self::Append, Self::Writers, Self::Start, Self::Import];

    pub(crate) fn take(self, scene: &Scene) -> Result<Vec<Figure>> {
        match self {
            Self::Length => length::measure(scene),
            Self::Family => family::measure(scene),
            Self::Append => append::measure(scene),
            Self::Writers => writers::measure(scene),
            Self::Start => start::measure(scene),
            Self::Import => import::measure(scene),
        }
    }

    /// The heading of its figures.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Length => "forks of short and long sessions",
            Self::Family => "forks in deep and wide families",
            Self::Append => "durable appends",
            Self::Writers => "four processes at once",
            Self::Start => "program starts",
            Self::Import => "imports",
        }
    }
}

impl fmt::Display for Measurement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_possible_value().map_or(Ok(()), |value| f.write_str(value.get_name()))
    }
}

/// A number with its thousands apart: `1,000,000`.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::Sizes;

    #[test]
    fn thousands_stand_apart() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }

    /// The measurements that need no second program run to their end and give sound figures.
    #[test]
    fn every_measurement_within_one_process_runs() {
        let dir = tempfile::tempdir().unwrap();
        let scene = Scene::below(dir.path(), Sizes::QUICK).unwrap();
        for measurement in [Measurement::Length, Measurement::Family, Measurement::Append] {
            let figures = measurement.take(&scene).unwrap();
            let unsound = figures.iter().find(|it| !(it.value.is_finite() && it.value > 0.0));
            assert_eq!((unsound, figures.is_empty()), (None, false), "{measurement}");
        }
    }
}
