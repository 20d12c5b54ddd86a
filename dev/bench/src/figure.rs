//! A figure: one measured value, with a description and the promised limit.

use crate::samples::Samples;

/// One measured value, which is shown as a row of a table.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Figure {
    /// A description of the measured operation, and of the operation with which it is compared.
    pub(crate) what: String,
    pub(crate) value: f64,
    pub(crate) unit: Unit,
    pub(crate) goal: Goal,
    /// The measurement from which the field `value` was computed, as text. Usually the median, with
    /// the 10th to the 90th percentile in brackets. May be empty.
    pub(crate) measured: String,
    /// The baseline with which the measurement is compared, as text. Usually a median, with the
    /// 10th to the 90th percentile in brackets. Empty if there is no baseline.
    pub(crate) against: String,
}

/// The unit of a measured value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// A ratio of durations or sizes.
    Times,
    Bytes,
    Kilobytes,
    Megabytes,
    Pages,
    /// A number of things.
    Count,
    Milliseconds,
    Seconds,
    MegabytesPerSecond,
}

/// The limit that forklore promises for a measured value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Goal {
    AtMost(f64),
    AtLeast(f64),
    /// No promise: the value is shown for comparison only.
    None,
}

impl Figure {
    /// Creates a table row for the ratio of two durations: the median of `other` divided by that of
    /// `base`.
    pub(crate) fn ratio(
        what: impl Into<String>,
        goal: Goal,
        base: &Samples,
        other: &Samples,
    ) -> Self {
        Self {
            what: what.into(),
            value: other.over(base),
            unit: Unit::Times,
            goal,
            measured: other.to_string(),
            against: base.to_string(),
        }
    }

    /// Creates a table row for a value that is not compared with a baseline.
    pub(crate) fn alone(what: impl Into<String>, goal: Goal, value: f64, unit: Unit) -> Self {
        Self {
            what: what.into(),
            value,
            unit,
            goal,
            measured: String::new(),
            against: String::new(),
        }
    }

    /// Sets the two texts that show from which numbers the value was computed: `measured` and its
    /// baseline `against`.
    pub(crate) fn from(mut self, measured: impl Into<String>, against: impl Into<String>) -> Self {
        self.measured = measured.into();
        self.against = against.into();
        self
    }

    /// Checks whether the value is within its promised limit. Returns `None` if there is no
    /// promise.
    pub(crate) fn is_met(&self) -> Option<bool> {
        match self.goal {
            Goal::AtMost(most) => Some(self.value <= most),
            Goal::AtLeast(least) => Some(self.value >= least),
            Goal::None => None,
        }
    }

    /// Formats the measured value as a row of a Markdown table.
    pub(crate) fn row(&self) -> String {
        let verdict = match self.is_met() {
            Some(true) => "met",
            Some(false) => "**missed**",
            None => "",
        };
        let goal = match self.goal {
            Goal::AtMost(most) => format!("<= {}", self.unit.formatted(most)),
            Goal::AtLeast(least) => format!(">= {}", self.unit.formatted(least)),
            Goal::None => String::new(),
        };
        let cells = [
            &self.what,
            &self.unit.formatted(self.value),
            &goal,
            verdict,
            &self.measured,
            &self.against,
        ];
        let cells = cells.map(|cell| if cell.is_empty() { "-" } else { cell });
        format!("| {} |", cells.join(" | "))
    }
}

impl Unit {
    fn formatted(self, value: f64) -> String {
        match self {
            Self::Times => format!("{value:.2}x"),
            Self::Bytes => format!("{value:.0} B"),
            Self::Kilobytes if value >= 1e3 => format!("{:.1} MB", value / 1e3),
            Self::Kilobytes => format!("{value:.1} KB"),
            Self::Megabytes => format!("{value:.1} MB"),
            Self::Milliseconds => format!("{value:.2} ms"),
            Self::Count => format!("{value:.0}"),
            Self::Pages => format!("{value:.0} pages"),
            Self::Seconds => format!("{value:.2} s"),
            Self::MegabytesPerSecond => format!("{value:.0} MB/s"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_row_says_whether_the_goal_is_met() {
        let took = |micros| {
            let mut samples = Samples::default();
            samples.add(Duration::from_micros(micros));
            samples
        };
        let rows = [
            Figure::ratio("fork", Goal::AtMost(1.2), &took(200), &took(250)),
            Figure::alone("import", Goal::AtLeast(100.0), 123.4, Unit::MegabytesPerSecond)
                .from("1.0 GB in 8.1 s", ""),
            Figure::alone("pages", Goal::None, 7.0, Unit::Pages),
        ];
        let expected = [
            "| fork | 1.25x | <= 1.20x | **missed** | 250 us (250 us to 250 us) | 200 us (200 us to 200 us) |",
            "| import | 123 MB/s | >= 100 MB/s | met | 1.0 GB in 8.1 s | - |",
            "| pages | 7 pages | - | - | - | - |",
        ];
        assert_eq!(rows.map(|figure| figure.row()), expected);
    }
}
