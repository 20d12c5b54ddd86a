//! Formats the figures as Markdown, and writes them into the page.

use std::fs;
use std::path::Path;

use crate::error::{Doing, Error, Result};
use crate::figure::Figure;
use crate::findings::Findings;
use crate::machine::{self, Machine};
use crate::measure::Measurement;
use crate::options::Options;

/// The two lines in `docs/benchmarks.md` between which the results of a run are written.
const MARKS: [&str; 2] = ["<!-- figures -->\n", "<!-- end of figures -->"];

/// The directory of the charts, relative to the file with the results.
const PICTURES: &str = "benchmarks";

/// Formats the results as Markdown: a description of the machine and the run, then a table per
/// measurement.
pub(crate) fn figures(
    measured: &[(Measurement, Findings)],
    machine: &Machine,
    options: &Options,
) -> String {
    let goals = measured.iter().flat_map(|(_, found)| &found.figures).filter_map(Figure::is_met);
    let (met, missed): (Vec<_>, Vec<_>) = goals.partition(|met| *met);
    let mut text = format!(
        "`{}`, {}, commit {}: {} goals met, {} missed.\n\n\
         {} cores ({}), {}; load average {} before, {} after.\n",
        options.command(),
        machine.date,
        machine.commit,
        met.len(),
        missed.len(),
        machine.cores,
        machine.processor,
        machine.file_system,
        machine.load,
        machine::load(),
    );
    if options.quick {
        text.push_str("\nSmall sizes: the figures mean nothing.\n");
    }
    for (measurement, found) in measured {
        text.push_str(&format!("\n### {}\n\n", capitalised(measurement.title())));
        for chart in &found.charts {
            text.push_str(&format!("![{}]({PICTURES}/{}.svg)\n\n", chart.title, chart.name));
        }
        if found.figures.is_empty() {
            continue;
        }
        text.push_str(
            "| what | result | goal | | p50 (p10 to p90) | against |\n\
             | --- | --- | --- | --- | --- | --- |\n",
        );
        for figure in &found.figures {
            text.push_str(&figure.row());
            text.push('\n');
        }
    }
    text
}

/// Writes the charts of all measurements as SVG files into `folder`.
pub(crate) fn draw(measured: &[(Measurement, Findings)], folder: &Path) -> Result<()> {
    let mut charts = measured.iter().flat_map(|(_, found)| &found.charts).peekable();
    if charts.peek().is_some() {
        fs::create_dir_all(folder).doing("cannot make", folder)?;
    }
    for chart in charts {
        let file = folder.join(chart.name).with_extension("svg");
        fs::write(&file, chart.svg()?).doing("cannot write", &file)?;
    }
    Ok(())
}

/// Replaces the text between two marker lines in `file` by `text`, the results of a run.
pub(crate) fn save(file: &Path, text: &str) -> Result<()> {
    let page = fs::read_to_string(file).doing("cannot read", file)?;
    let page = replaced(&page, text)
        .ok_or_else(|| Error::Wrong(format!("{} has no marks for figures", file.display())))?;
    fs::write(file, page).doing("cannot write", file)
}

fn replaced(page: &str, text: &str) -> Option<String> {
    let [begin, end] = MARKS;
    let (before, rest) = page.split_once(begin)?;
    let (_, after) = rest.split_once(end)?;
    Some(format!("{before}{begin}{text}{end}{after}"))
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::figure::{Goal, Unit};

    #[test]
    fn the_page_says_where_and_when_and_what_was_missed() {
        let machine = Machine {
            date: "2026-01-02 03:04 UTC".into(),
            commit: "abc1234".into(),
            cores: 2,
            processor: "P".into(),
            file_system: "ext4".into(),
            load: "0.1 0.2 0.3".into(),
        };
        let figure = |value| Figure::alone("a", Goal::AtMost(2.0), value, Unit::Times);
        let measured = [(Measurement::Append, vec![figure(1.0), figure(3.0)].into())];
        let text = figures(&measured, &machine, &Options::parse_from(["x", "--only", "append"]));
        let (head, table) = text.split_once("###").unwrap();
        assert!(head.starts_with(
            "`cargo xtask bench --only append`, 2026-01-02 03:04 UTC, commit abc1234: \
             1 goals met, 1 missed.\n\n2 cores (P), ext4; load average 0.1 0.2 0.3 before, "
        ));
        let expected = " Durable appends\n\n\
            | what | result | goal | | p50 (p10 to p90) | against |\n\
            | --- | --- | --- | --- | --- | --- |\n\
            | a | 1.00x | <= 2.00x | met | - | - |\n\
            | a | 3.00x | <= 2.00x | **missed** | - | - |\n";
        assert_eq!(table, expected);
    }

    #[test]
    fn figures_are_replaced_between_the_marks() {
        let page = "a\n<!-- figures -->\nold\n<!-- end of figures -->\nz\n";
        let existing = "a\n<!-- figures -->\nnew\n<!-- end of figures -->\nz\n";
        assert_eq!(replaced(page, "new\n").as_deref(), Some(existing));
        assert_eq!(replaced("no marks", "new"), None);
    }
}
