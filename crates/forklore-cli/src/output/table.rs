//! Tables that fit the terminal.

use forklore_guard::terminal;
use unicode_width::UnicodeWidthStr;

use super::page::Page;
use super::style::Tone;

const GAP: usize = 2;
/// A column that gives way keeps as much.
const NARROWEST: usize = 12;

/// One column.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    name: &'static str,
    right: bool,
    /// Gives way first when the table is too wide.
    gives_way: bool,
    /// Is left out when even that is not enough.
    optional: bool,
}

impl Column {
    pub(crate) const fn new(name: &'static str) -> Self {
        Self {
            name,
            right: false,
            gives_way: false,
            optional: false,
        }
    }

    /// Numbers stand at the right.
    pub(crate) const fn right(mut self) -> Self {
        self.right = true;
        self
    }

    /// It is cut short when the table is too wide.
    pub(crate) const fn gives_way(mut self) -> Self {
        self.gives_way = true;
        self
    }

    /// It is left out when the table is too wide.
    pub(crate) const fn optional(mut self) -> Self {
        self.optional = true;
        self
    }
}

/// One cell.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cell {
    tone: Tone,
    /// What is drawn before the text: the program's own, never stored text.
    lead: String,
    text: String,
}

impl Cell {
    pub(crate) fn new(tone: Tone, text: impl Into<String>) -> Self {
        Self {
            tone,
            lead: String::new(),
            text: text.into(),
        }
    }

    /// The same cell behind the lines of a tree.
    pub(super) fn behind(mut self, lines: &str) -> Self {
        lines.clone_into(&mut self.lead);
        self
    }

    /// The text as it is shown within `width` columns.
    fn fitted(&self, width: usize) -> String {
        terminal::cell(&self.text, width.saturating_sub(self.lead.width())).into_owned()
    }
}

/// Rows under a heading.
pub(crate) struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    pub(crate) fn new(columns: &[Column]) -> Self {
        Self {
            columns: columns.to_vec(),
            rows: Vec::new(),
        }
    }

    /// Adds a row: one cell for each column.
    pub(crate) fn row(&mut self, cells: impl Into<Vec<Cell>>) {
        self.rows.push(cells.into());
    }

    /// Lays the table out on `page`.
    pub(crate) fn show(&self, page: &mut Page) {
        let widths = self.widths(page.look().width);
        let heading: Vec<Cell> = self
            .columns
            .iter()
            .map(|column| Cell::new(Tone::Dim, column.name))
            .collect();
        for row in std::iter::once(&heading).chain(&self.rows) {
            let mut gap = 0;
            for ((cell, column), width) in row.iter().zip(&self.columns).zip(&widths) {
                let Some(width) = *width else { continue };
                let text = cell.fitted(width);
                let fill = width.saturating_sub(cell.lead.width() + text.width());
                page.pad(gap + if column.right { fill } else { 0 });
                page.painted(Tone::Dim, &cell.lead);
                page.painted(cell.tone, &text);
                gap = GAP + if column.right { 0 } else { fill };
            }
            page.end();
        }
    }

    /// The columns' widths; none for one that is left out.
    fn widths(&self, limit: usize) -> Vec<Option<usize>> {
        let mut widths: Vec<Option<usize>> =
            (0..self.columns.len()).map(|at| self.natural(at)).collect();
        let excess = |widths: &[Option<usize>]| {
            let shown = widths.iter().flatten().count();
            let total = widths.iter().flatten().sum::<usize>() + GAP * shown.saturating_sub(1);
            total.saturating_sub(limit)
        };
        for (column, width) in self.columns.iter().zip(0..) {
            let over = excess(&widths);
            if let Some(Some(width)) = widths.get_mut(width)
                && column.gives_way
            {
                *width = width.saturating_sub(over).max(NARROWEST.min(*width));
            }
        }
        for at in (0..self.columns.len()).rev() {
            let optional = self.columns.get(at).is_some_and(|column| column.optional);
            if optional
                && excess(&widths) > 0
                && let Some(width) = widths.get_mut(at)
            {
                *width = None;
            }
        }
        widths
    }

    /// The width a column would like; none when it is empty but for its name.
    fn natural(&self, at: usize) -> Option<usize> {
        let column = self.columns.get(at)?;
        let cells = self.rows.iter().filter_map(|row| row.get(at));
        let width = |cell: &Cell| cell.lead.width() + cell.fitted(usize::MAX).width();
        let widest = cells.map(width).max().unwrap_or(0);
        (widest > 0 || self.rows.is_empty()).then(|| widest.max(column.name.width()))
    }
}
