//! Continuations that are tried at once: while they run, and beside each other.

use forklore_chat::explore::{Row, State};
use forklore_guard::terminal;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::{Cell, Column, Page, Table, Tone};

/// A line for each continuation; they are gone when all are done.
pub(crate) struct Tries {
    all: MultiProgress,
    lines: Vec<ProgressBar>,
    width: usize,
}

impl Tries {
    pub(super) fn new(count: usize, visible: bool, width: usize) -> Self {
        let target =
            if visible { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let all = MultiProgress::with_draw_target(target);
        let lines = (0..count).map(|_| {
            let line = all.add(ProgressBar::new_spinner());
            match ProgressStyle::with_template("{spinner} {msg}") {
                Ok(style) => line.with_style(style),
                Err(_) => line,
            }
        });
        let lines = lines.collect();
        Self { all, lines, width }
    }

    /// Shows how far a continuation is.
    pub(crate) fn show(&self, at: usize, row: &Row) {
        let Some(line) = self.lines.get(at) else { return };
        let label = row.label.as_ref().map_or("", |label| label.as_str());
        let head = format!("{label:<10} {:<12} {:<11} ", row.model, state(row));
        let room = self.width.saturating_sub(head.len() + 4).max(10);
        // The end of what was said: that it moves shows that it goes on.
        let said: Vec<char> = row.answer.chars().rev().take(room).collect();
        let said: String = said.into_iter().rev().collect();
        let text = format!("{head}{}", said.split_whitespace().collect::<Vec<_>>().join(" "));
        line.set_message(terminal::cell(&text, self.width.saturating_sub(4)).into_owned());
        line.tick();
    }
}

impl Drop for Tries {
    fn drop(&mut self) {
        for line in &self.lines {
            line.finish_and_clear();
        }
        // What cannot be cleared stands there once more.
        let _ = self.all.clear();
    }
}

fn state(row: &Row) -> &'static str {
    match row.state {
        State::Waiting => "waiting",
        State::Asked => "asked",
        State::Answering => "answering",
        State::Judged => "judged",
        State::Done => "done",
        State::Interrupted => "interrupted",
        State::Failed => "failed",
    }
}

/// The one with the highest mark, of several the first.
pub(crate) fn best(rows: &[Row]) -> Option<&Row> {
    let marked = rows.iter().filter_map(|row| Some((row.score?, row)));
    marked.rev().max_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, row)| row)
}

/// The continuations beside each other.
pub(crate) fn table(page: &mut Page, rows: &[Row]) {
    let scored = rows.iter().any(|row| row.score.is_some());
    let priced = rows.iter().any(|row| row.usage.cost > 0.0);
    let several = rows.iter().any(|row| Some(&row.model) != rows.first().map(|row| &row.model));
    let asked = rows.iter().any(|row| Some(&row.prompt) != rows.first().map(|row| &row.prompt));
    let mut columns = vec![Column::new("LABEL")];
    columns.extend(several.then(|| Column::new("MODEL")));
    columns.extend(asked.then(|| Column::new("PROMPT").gives_way()));
    columns.extend([
        Column::new("IN").right(),
        Column::new("CACHED").right(),
        Column::new("OUT").right(),
    ]);
    columns.extend(priced.then(|| Column::new("COST").right()));
    columns.push(Column::new("TIME").right());
    columns.extend(scored.then(|| Column::new("SCORE").right()));
    columns.push(Column::new("ANSWER").gives_way());
    let mut table = Table::new(&columns);
    let best = best(rows).map(|row| row.label.clone());
    for row in rows {
        let is_best = best.as_ref() == Some(&row.label);
        let label = row.label.as_ref().map_or("-", |label| label.as_str());
        let mut cells = vec![Cell::new(Tone::Label, label)];
        cells.extend(several.then(|| Cell::new(Tone::Plain, row.model.as_str())));
        cells.extend(asked.then(|| Cell::new(Tone::Plain, row.prompt.as_str())));
        let number = |number: u64| Cell::new(Tone::Plain, number.to_string());
        cells.extend([number(row.usage.input), number(row.usage.cached), number(row.usage.output)]);
        cells.extend(priced.then(|| Cell::new(Tone::Plain, format!("{:.4}", row.usage.cost))));
        cells.push(Cell::new(Tone::Dim, format!("{:.1} s", row.seconds)));
        let tone = if is_best { Tone::Good } else { Tone::Plain };
        let score = || row.score.map_or_else(|| "-".to_owned(), |score| score.to_string());
        cells.extend(scored.then(|| Cell::new(tone, score())));
        cells.push(outcome(row));
        table.row(cells);
    }
    table.show(page);
}

fn outcome(row: &Row) -> Cell {
    match (&row.error, row.state) {
        (Some(error), State::Done) => Cell::new(Tone::Warn, format!("{error}: {}", row.answer)),
        (Some(error), _) => Cell::new(Tone::Bad, error.as_str()),
        (None, State::Interrupted) => {
            Cell::new(Tone::Warn, format!("(interrupted) {}", row.answer))
        }
        (None, _) => Cell::new(Tone::Plain, super::transcript::start_of(&row.answer)),
    }
}
