//! The layout of the answers of an exploration: columns side by side.

use std::borrow::Cow;

use forklore_host::explore::{Row, State};
use forklore_sanitize::terminal;
use unicode_width::UnicodeWidthStr;

use crate::count::count;
use crate::input::Key;

/// The minimum width of a column. A narrow terminal shows fewer columns at once.
const NARROWEST: usize = 36;
const BETWEEN: &str = " │ ";
/// The number of rows of the screen around the answers: two rows of headings, a line below the
/// headings, and the keys.
const AROUND: usize = 4;
const KEYS: &str = "← → choose  ↑ ↓ scroll  Enter keeps it  x keeps it alone  q closes";
/// The keys on a narrow terminal.
const FEW_KEYS: &str = "← → ↑ ↓ Enter keeps q";

/// The answers, and what the user looks at.
pub(super) struct Layout<'a> {
    rows: &'a [Row],
    best: Option<usize>,
    /// The index of the row that is chosen.
    pub(super) chosen: usize,
    /// The index of the row in the first column.
    first: usize,
    /// The number of lines of the answers that are above the screen.
    above: usize,
    /// The height of the answers on the screen.
    height: usize,
}

impl<'a> Layout<'a> {
    pub(super) fn of(rows: &'a [Row], best: Option<usize>) -> Self {
        let first = || rows.iter().position(|row| row.state == State::Done);
        let chosen = best.or_else(first).unwrap_or(0);
        Self { rows, best, chosen, first: 0, above: 0, height: 1 }
    }

    pub(super) fn go(&mut self, key: Key) {
        let last = self.rows.len().saturating_sub(1);
        match key {
            Key::Left | Key::Char('h') => self.chosen = self.chosen.saturating_sub(1),
            Key::Right | Key::Char('l') => self.chosen = (self.chosen + 1).min(last),
            Key::Up | Key::Char('k') => self.above = self.above.saturating_sub(1),
            Key::Down | Key::Char('j') => self.above = self.above.saturating_add(1),
            Key::PageUp => self.above = self.above.saturating_sub(self.height),
            Key::PageDown | Key::Char(' ') => self.above = self.above.saturating_add(self.height),
            Key::Home => self.above = 0,
            Key::End => self.above = usize::MAX,
            Key::Char(digit) => {
                let number = digit.to_digit(10).and_then(|number| usize::try_from(number).ok());
                let at = number.and_then(|number| number.checked_sub(1));
                self.chosen = at.filter(|at| *at <= last).unwrap_or(self.chosen);
            }
            _ => {}
        }
    }

    /// Returns the text that draws the answers on a screen of `width` columns and `height` rows.
    /// The text begins at the top of the screen.
    pub(super) fn frame(&mut self, width: usize, height: usize) -> String {
        let mut frame = "\u{1b}[H".to_owned();
        for (at, line) in self.lines(width, height).iter().enumerate() {
            frame.push_str(if at == 0 { "" } else { "\r\n" });
            frame.push_str(line);
            frame.push_str("\u{1b}[K");
        }
        frame + "\u{1b}[J"
    }

    fn lines(&mut self, width: usize, height: usize) -> Vec<String> {
        let shown = (width / NARROWEST).clamp(1, self.rows.len().max(1));
        let column = (width.saturating_sub(BETWEEN.width() * (shown - 1)) / shown).max(1);
        self.first = self.first.min(self.chosen).max((self.chosen + 1).saturating_sub(shown));
        self.height = height.saturating_sub(AROUND).max(1);
        let rows = self.rows.iter().enumerate().skip(self.first).take(shown);
        let columns: Vec<Column> = rows
            .map(|(at, row)| Column::of(row, column, self.best == Some(at), self.chosen == at))
            .collect();
        let longest = columns.iter().map(|column| column.answer.len()).max().unwrap_or(0);
        self.above = self.above.min(longest.saturating_sub(self.height));
        let joined = |part: &dyn Fn(&Column) -> String| {
            columns.iter().map(part).collect::<Vec<_>>().join(BETWEEN).trim_end().to_owned()
        };
        let mut lines = vec![
            joined(&|column| column.title.clone()),
            joined(&|column| column.facts.clone()),
            "─".repeat(width),
        ];
        for at in self.above..self.above + self.height {
            lines.push(joined(&|text| {
                padded(text.answer.get(at).map_or("", String::as_str), column)
            }));
        }
        lines.push(terminal::cell(&self.keys(longest, width), width).into_owned());
        lines.truncate(height);
        lines
    }

    fn keys(&self, longest: usize, width: usize) -> String {
        let below = longest.saturating_sub(self.above + self.height) as u64;
        let more =
            if below > 0 { format!(", {} below", count(below, "line")) } else { String::new() };
        let number = format!("{} of {}", self.chosen + 1, self.rows.len());
        let keys = format!("{number}{more}  {KEYS}");
        if keys.width() <= width { keys } else { format!("{number}  {FEW_KEYS}") }
    }
}

/// One answer as it is drawn. All texts are escaped and fit the column.
struct Column {
    title: String,
    facts: String,
    answer: Vec<String>,
}

impl Column {
    fn of(row: &Row, width: usize, is_best: bool, is_chosen: bool) -> Self {
        let title = padded(&title(row, is_best), width);
        let title = if is_chosen { format!("\u{1b}[7m{title}\u{1b}[27m") } else { title };
        Self { title, facts: padded(&facts(row), width), answer: answer(row, width) }
    }
}

/// Returns the title of a row: the label of its fork, its score, and whether it is the best row.
fn title(row: &Row, is_best: bool) -> String {
    let label = row.label.as_ref().map_or("-", |label| label.as_str());
    let score = row.score.map(|score| format!("  {score}")).unwrap_or_default();
    let mark = if is_best { "  best" } else { "" };
    format!("{label}{score}{mark}")
}

/// Returns the second heading of a row: whether the continuation failed or was interrupted, its
/// model, output tokens and duration, and its prompt.
fn facts(row: &Row) -> String {
    let state = match row.state {
        State::Failed => "failed, ",
        State::Interrupted => "interrupted, ",
        _ => "",
    };
    let out = count(row.usage.output, "token");
    format!("{state}{}, {out}, {:.1} s: {}", row.model, row.seconds, row.prompt)
}

/// Returns the lines of an answer, or of the error if there is no answer.
fn answer(row: &Row, columns: usize) -> Vec<String> {
    let text = match &row.error {
        Some(error) if row.answer.is_empty() => error.as_str(),
        _ => row.answer.as_str(),
    };
    let text = terminal::block(text.trim_end()).replace('\t', "    ");
    textwrap::wrap(&text, columns).into_iter().map(Cow::into_owned).collect()
}

/// Returns `text` in exactly this many columns, escaped.
fn padded(text: &str, columns: usize) -> String {
    let line = terminal::line(text);
    let line = if line.width() > columns { terminal::cell(text, columns) } else { line };
    format!("{line}{}", " ".repeat(columns.saturating_sub(line.width())))
}

#[cfg(test)]
mod tests;
