//! Shows an exploration (several continuations of one session): the progress of each continuation
//! while it runs, and the table of the results.

use std::time::Duration;

use forklore::api::{AgentWork, TestCounts};
use forklore::core::Currency;
use forklore_host::explore::{Row, State};
use forklore_sanitize::terminal;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::{Cell, Column, Page, Table, Tone};

/// The interval at which a progress line is redrawn.
const TICK: Duration = Duration::from_millis(200);
/// The number of columns before the text of a progress line. They show a spinner and the time in
/// the current state.
const LEAD: usize = 10;

/// The progress lines of an exploration (several continuations of a session), one for each
/// continuation. Dropping this value removes the lines.
pub(crate) struct Tries {
    all: MultiProgress,
    lines: Vec<Line>,
    width: usize,
}

/// The progress bar and the last shown state of one continuation.
struct Line {
    bar: ProgressBar,
    state: std::cell::Cell<State>,
}

impl Tries {
    pub(super) fn new(count: usize, visible: bool, width: usize) -> Self {
        let target =
            if visible { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let all = MultiProgress::with_draw_target(target);
        let lines = (0..count).map(|_| {
            let bar = all.add(ProgressBar::new_spinner());
            if visible {
                // Redraw regularly, because a model or a judge may give no output for a long time.
                bar.enable_steady_tick(TICK);
            }
            let bar = match ProgressStyle::with_template("{spinner} {elapsed:>5}  {msg}") {
                Ok(style) => bar.with_style(style),
                Err(_) => bar,
            };
            Line { bar, state: std::cell::Cell::new(State::Waiting) }
        });
        let lines = lines.collect();
        Self { all, lines, width }
    }

    /// Shows the state of the continuation with the index `at`.
    pub(crate) fn show(&self, at: usize, row: &Row) {
        let Some(Line { bar, state: before }) = self.lines.get(at) else { return };
        if before.replace(row.state) != row.state {
            bar.reset_elapsed();
        }
        let label = row.label.as_ref().map_or("", |label| label.as_str());
        let head = format!("{label:<10} {:<12} {:<11} ", row.model, state(row));
        let columns = self.width.saturating_sub(head.len() + LEAD).max(10);
        // Show the end of the answer, because its changes show that the continuation progresses.
        let answer: Vec<char> = row.answer.chars().rev().take(columns).collect();
        let answer: String = answer.into_iter().rev().collect();
        let text = format!("{head}{}", answer.split_whitespace().collect::<Vec<_>>().join(" "));
        bar.set_message(terminal::cell(&text, self.width.saturating_sub(LEAD)).into_owned());
        bar.tick();
        if matches!(row.state, State::Done | State::Interrupted | State::Failed) {
            bar.finish();
        }
    }
}

impl Drop for Tries {
    fn drop(&mut self) {
        for line in &self.lines {
            line.bar.finish_and_clear();
        }
        // If the lines cannot be cleared, they stay on the screen.
        let _ = self.all.clear();
    }
}

fn state(row: &Row) -> &'static str {
    match row.state {
        State::Waiting => "waiting",
        State::Requested => "asked",
        State::Answering => "answering",
        State::Judging => "judging",
        State::Done => "done",
        State::Interrupted => "interrupted",
        State::Failed => "failed",
    }
}

/// Returns the row of the continuation with the highest score. If several have that score, returns
/// the first of them. Returns `None` if no row has a score.
pub(crate) fn best(rows: &[Row]) -> Option<&Row> {
    rows.get(forklore_chat::best(rows)?)
}

/// Adds a table to `page` that compares the continuations of an exploration. The table has scores,
/// and a mark at the best row, only if `judged` is set. The costs are in `currency`.
pub(crate) fn table(page: &mut Page, rows: &[Row], judged: bool, currency: &Currency) {
    let priced = rows.iter().any(|row| row.usage.cost.is_some());
    let several = rows.iter().any(|row| Some(&row.model) != rows.first().map(|row| &row.model));
    let prompts_differ =
        rows.iter().any(|row| Some(&row.prompt) != rows.first().map(|row| &row.prompt));
    let mut columns = vec![Column::new("LABEL").gives_way()];
    columns.extend(several.then(|| Column::new("MODEL").gives_way()));
    columns.extend(prompts_differ.then(|| Column::new("PROMPT").gives_way()));
    columns.extend(judged.then(|| Column::new("SCORE").right()));
    // The mark of the best row has a separate column. The table drops an empty column.
    columns.extend(judged.then(|| Column::new("")));
    let works = rows.iter().any(|row| row.work.is_some());
    columns.extend(works.then(|| Column::new("TESTS")));
    columns.extend(works.then(|| Column::new("FILES")));
    columns.extend([
        Column::new("IN").right().optional(),
        Column::new("CACHED").right().optional(),
        Column::new("OUT").right().optional(),
    ]);
    columns.extend(priced.then(|| Column::new("COST").right().optional()));
    columns.push(Column::new("TIME").right().optional());
    columns.push(Column::new("ANSWER").gives_way());
    let mut table = Table::new(&columns);
    let best = best(rows).map(|row| row.label.clone());
    for row in rows {
        let is_best = best.as_ref() == Some(&row.label);
        let label = row.label.as_ref().map_or("-", |label| label.as_str());
        let mut cells = vec![Cell::new(Tone::Label, label)];
        cells.extend(several.then(|| Cell::new(Tone::Plain, row.model.as_str())));
        cells.extend(prompts_differ.then(|| Cell::new(Tone::Plain, row.prompt.as_str())));
        let tone = if is_best { Tone::Good } else { Tone::Plain };
        let score = || row.score.map_or_else(|| "-".to_owned(), |score| score.to_string());
        cells.extend(judged.then(|| Cell::new(tone, score())));
        cells.extend(judged.then(|| Cell::new(tone, if is_best { "best" } else { "" })));
        if let Some(work) = &row.work {
            cells.extend(worked(work));
        }
        // A failed model call reports no usage.
        let has_usage = row.usage.input > 0 || row.usage.output > 0;
        let number = |number: u64| {
            let text = if has_usage { number.to_string() } else { "-".to_owned() };
            Cell::new(Tone::Plain, text)
        };
        cells.extend([number(row.usage.input), number(row.usage.cached), number(row.usage.output)]);
        let cost = || {
            let cost = row.usage.cost;
            cost.map_or_else(|| "-".to_owned(), |cost| format!("{cost:.4} {currency}"))
        };
        cells.extend(priced.then(|| Cell::new(Tone::Plain, cost())));
        cells.push(Cell::new(Tone::Dim, format!("{:.1} s", row.seconds)));
        cells.push(outcome(row));
        table.row(cells);
    }
    table.show(page);
    what_failed(page, rows);
}

/// Returns the cells with the tests of an agent's work and with the size of its changes.
fn worked(work: &AgentWork) -> [Cell; 2] {
    let tests = match work.tests {
        None => Cell::new(Tone::Plain, "-"),
        Some(TestCounts { passed, failed: 0 }) => Cell::new(Tone::Good, format!("{passed} passed")),
        Some(TestCounts { passed, failed }) => {
            Cell::new(Tone::Bad, format!("{failed} of {} failed", passed + failed))
        }
    };
    let files = match work.files {
        0 => "-".to_owned(),
        files => format!("{files} +{} -{}", work.added, work.removed),
    };
    [tests, Cell::new(Tone::Plain, files)]
}

/// Adds each different error of an exploration once and in full, with the labels of the
/// continuations that failed with this error.
fn what_failed(page: &mut Page, rows: &[Row]) {
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    for row in rows {
        let Some(error) = row.error.as_deref() else { continue };
        let label = row.label.as_ref().map_or("-", |label| label.as_str());
        match groups.iter_mut().find(|(earlier, _)| *earlier == error) {
            Some((_, labels)) => labels.push(label),
            None => groups.push((error, vec![label])),
        }
    }
    if !groups.is_empty() {
        page.end();
    }
    for (error, labels) in groups {
        page.put(Tone::Label, labels.join(", ")).put(Tone::Plain, ": ");
        page.rest_of_line(Tone::Warn, error, 2);
    }
}

fn outcome(row: &Row) -> Cell {
    let answer = super::transcript::start_of(&row.answer);
    match row.state {
        State::Failed => Cell::new(Tone::Bad, "(failed)"),
        State::Interrupted => Cell::new(Tone::Warn, format!("(interrupted) {answer}")),
        _ => Cell::new(Tone::Plain, answer),
    }
}
