//! Prints two messages next to each other, in two columns.

use super::words::{self, Line, wrapped};
use super::{Page, Tone};

const BETWEEN: &str = " │ ";

/// A message in a column: its heading and its lines.
#[derive(Clone, Debug, Default)]
pub(crate) struct Entry {
    pub(crate) heading: Line,
    pub(crate) lines: Vec<Line>,
}

/// Prints a row of two messages: the heading of each, and at most `most` of its lines. `None`
/// leaves its column empty.
pub(crate) fn row(page: &mut Page, entries: [Option<Entry>; 2], most: usize) {
    let width = page.look().width.saturating_sub(BETWEEN.chars().count()) / 2;
    let [left, right] =
        entries.map(|entry| entry.map_or_else(Vec::new, |it| fitted(it, width, most)));
    for at in 0..left.len().max(right.len()) {
        let used = left.get(at).map_or(0, |line| words::put(page, line));
        page.pad(width.saturating_sub(used));
        page.put(Tone::Dim, BETWEEN);
        if let Some(line) = right.get(at) {
            words::put(page, line);
        }
        page.end();
    }
}

fn fitted(entry: Entry, width: usize, most: usize) -> Vec<Line> {
    let mut lines = wrapped(&[entry.heading], width);
    lines.extend(words::most(wrapped(&entry.lines, width), most));
    lines
}
