//! The results of measurements: figures for the tables, and charts.

use crate::chart::Chart;
use crate::figure::Figure;

/// The results of one measurement: values for a table, and charts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Findings {
    pub(crate) figures: Vec<Figure>,
    pub(crate) charts: Vec<Chart>,
}

impl Findings {
    /// Appends the values and charts of another part of the same measurement.
    pub(crate) fn add(&mut self, other: impl Into<Self>) {
        let other = other.into();
        self.figures.extend(other.figures);
        self.charts.extend(other.charts);
    }

    /// Adds a chart to the results of the measurement.
    pub(crate) fn with(mut self, chart: Chart) -> Self {
        self.charts.push(chart);
        self
    }
}

impl From<Vec<Figure>> for Findings {
    fn from(figures: Vec<Figure>) -> Self {
        Self { figures, charts: Vec::new() }
    }
}

impl From<Figure> for Findings {
    fn from(figure: Figure) -> Self {
        vec![figure].into()
    }
}
