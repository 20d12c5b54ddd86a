//! SVG charts that show how a cost grows: lines over two logarithmic axes.

use std::ops::Range;
use std::time::Duration;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::error::{Error, Result};
use crate::samples::Samples;

const SIZE: (u32, u32) = (880, 440);

/// The width of the legend in pixels. The legend is to the right of the plot, so that it covers
/// nothing.
const LEGEND: u32 = 250;

const INK: RGBColor = RGBColor(36, 41, 47);
const GRID: RGBColor = RGBColor(208, 215, 222);
const FAINT: RGBColor = RGBColor(238, 241, 244);

/// Colours for lines, the first one for forklore. They are distinguishable with colour blindness
/// (the palette of Okabe and Ito).
const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(90, 90, 90),
];

/// A chart with its title, axis labels and lines.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Chart {
    /// The name of the chart's file, without the extension.
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    /// The label of the horizontal axis.
    pub(crate) across: &'static str,
    /// The label of the vertical axis.
    pub(crate) up: &'static str,
    pub(crate) unit: Scale,
    pub(crate) lines: Vec<Line>,
}

/// The number format of the vertical axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scale {
    /// Values are seconds. Labels show a suitable unit: 0.001 is labelled `1 ms`.
    Time,
    /// Values are counts. Labels are short: 10,000 is labelled `10,000`, and one million `1M`.
    Count,
}

/// A line of a chart, with its points (x, y). A chart has one line for each implementation or
/// method that it compares.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Line {
    pub(crate) name: String,
    pub(crate) points: Vec<(f64, f64)>,
}

impl Chart {
    /// Adds a point to the line with this name. Creates the line if the chart has none of this
    /// name.
    pub(crate) fn point(&mut self, name: &str, point: (f64, f64)) {
        match self.lines.iter_mut().find(|line| line.name == name) {
            Some(line) => line.points.push(point),
            None => self.lines.push(Line { name: name.to_owned(), points: vec![point] }),
        }
    }

    /// Adds the median duration of the samples as a point to the line `name`, at the horizontal
    /// position `across`.
    pub(crate) fn took(&mut self, name: &str, across: usize, samples: &Samples) {
        self.point(name, (across as f64, samples.median().as_secs_f64()));
    }

    /// Adds a rate per second as a point to the line `name`, at the horizontal position `across`.
    /// Each sample is the duration of one operation; the rate is 1 divided by the median.
    pub(crate) fn rate(&mut self, name: &str, across: usize, samples: &Samples) {
        self.point(name, (across as f64, 1.0 / samples.median().as_secs_f64()));
    }

    /// Renders the chart as SVG.
    pub(crate) fn svg(&self) -> Result<String> {
        let mut svg = String::new();
        {
            let area = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
            self.draw(&area).map_err(|error| self.refused(&error.to_string()))?;
        }
        Ok(svg)
    }

    fn refused(&self, why: &str) -> Error {
        Error::Wrong(format!("the picture {} cannot be drawn: {why}", self.name))
    }

    fn draw(&self, area: &Area<'_>) -> Drawn<'_> {
        // The background is opaque, because the page may be light or dark.
        area.fill(&WHITE)?;
        let (plot, legend) = area.split_horizontally(SIZE.0 - LEGEND);
        self.axes(&plot)?;
        self.legend(&legend)
    }

    fn axes<'a>(&self, area: &Area<'a>) -> Drawn<'a> {
        let (across, up) = (self.range(|point| point.0), self.range(|point| point.1));
        let text = |size: i32| ("sans-serif", size).into_font().color(&INK);
        // Axes with a small range have ticks at powers of two, those with a large range at powers
        // of ten.
        let base = if across.1 <= 64.0 { 2.0 } else { 10.0 };
        let mut chart = ChartBuilder::on(area)
            .caption(self.title, text(17))
            .margin(12)
            .x_label_area_size(44)
            .y_label_area_size(74)
            .build_cartesian_2d(around(across).log_scale().base(base), decades(up).log_scale())?;
        chart
            .configure_mesh()
            .bold_line_style(GRID)
            .light_line_style(FAINT)
            .axis_style(INK)
            .x_desc(self.across)
            .y_desc(self.up)
            .axis_desc_style(text(14))
            .label_style(text(13))
            .x_labels(8)
            .x_max_light_lines(0)
            .y_labels(8)
            .x_label_formatter(&|value| count(*value))
            .y_label_formatter(&|value| match self.unit {
                Scale::Time => time(*value),
                Scale::Count => count(*value),
            })
            .draw()?;
        for (line, colour) in self.coloured() {
            chart.draw_series(LineSeries::new(line.points.clone(), colour.stroke_width(2)))?;
            let dots = line.points.iter().map(|point| Circle::new(*point, 3, colour.filled()));
            chart.draw_series(dots)?;
        }
        Ok(())
    }

    fn legend<'a>(&self, area: &Area<'a>) -> Drawn<'a> {
        let style =
            ("sans-serif", 14).into_font().color(&INK).pos(Pos::new(HPos::Left, VPos::Center));
        for (row, (line, colour)) in (0..).zip(self.coloured()) {
            let y = 60 + 26 * row;
            area.draw(&PathElement::new(vec![(4, y), (30, y)], colour.stroke_width(2)))?;
            area.draw(&Circle::new((17, y), 3, colour.filled()))?;
            area.draw(&Text::new(line.name.clone(), (38, y), style.clone()))?;
        }
        Ok(())
    }

    fn coloured(&self) -> impl Iterator<Item = (&Line, RGBColor)> {
        self.lines.iter().zip(COLOURS.into_iter().cycle())
    }

    /// Returns the smallest and the largest value on one axis, over the points of all lines. `of`
    /// returns the value of a point on that axis.
    fn range(&self, of: fn(&(f64, f64)) -> f64) -> (f64, f64) {
        let values = self.lines.iter().flat_map(|line| &line.points).map(of);
        values.fold((f64::MAX, 0.0), |(a, b), value| (a.min(value), b.max(value)))
    }
}

/// Extends the range from `least` to `most` by a factor of 1.4 at both ends, as a margin of the
/// chart.
fn around((least, most): (f64, f64)) -> Range<f64> {
    least / 1.4..most * 1.4
}

/// Extends the range from `least` to `most` to powers of ten at both ends. The axis then has at
/// least two labels.
fn decades((least, most): (f64, f64)) -> Range<f64> {
    let decade = |value: f64| 10_f64.powf(value);
    decade(least.log10().floor()) / 1.05..decade(most.log10().ceil()) * 1.05
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn<'a> =
    std::result::Result<(), DrawingAreaErrorKind<<SVGBackend<'a> as DrawingBackend>::ErrorType>>;

fn count(value: f64) -> String {
    match value {
        v if v >= 1e6 => format!("{}M", v / 1e6),
        v if v >= 1e3 => format!("{},000", v / 1e3),
        v => v.to_string(),
    }
}

fn time(seconds: f64) -> String {
    let nanos = Duration::from_secs_f64(seconds).as_nanos();
    match nanos {
        n if n >= 1_000_000_000 => format!("{} s", seconds.round()),
        n if n >= 1_000_000 => format!("{} ms", (seconds * 1e3).round()),
        n if n >= 1_000 => format!("{} us", (seconds * 1e6).round()),
        n => format!("{n} ns"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_names_what_it_shows() {
        let mut chart = Chart {
            name: "n",
            title: "Forks",
            across: "events",
            up: "time",
            unit: Scale::Time,
            lines: Vec::new(),
        };
        for (x, y) in [(10.0, 1e-4), (1_000.0, 2e-3), (1_000_000.0, 1.5)] {
            chart.point("forklore", (x, y));
            chart.point("a < b", (x, 2.0 * y));
        }
        let svg = chart.svg().unwrap();
        for word in ["Forks", "events", "time", "forklore", "a &lt; b", "1M", "1 ms"] {
            assert!(svg.contains(word), "{word} is not in\n{svg}");
        }
        assert_eq!(chart.lines.len(), 2);
    }

    #[test]
    fn numbers_on_axes_are_short() {
        assert_eq!([1e-7, 1e-5, 0.1, 10.0].map(time), ["100 ns", "10 us", "100 ms", "10 s"]);
        assert_eq!([1.0, 10.0, 1e4, 1e6].map(count), ["1", "10", "10,000", "1M"]);
    }
}
