//! Lays out tables that fit the width of the terminal.

use std::borrow::Cow;

use forklore::core::{SessionId, ShortId, ShortIds};
use forklore_sanitize::terminal;
use unicode_width::UnicodeWidthStr;

use super::page::Page;
use super::style::Tone;

const GAP: usize = 2;
/// The minimum width, in terminal columns, of the text in a column that can shrink.
const NARROWEST: usize = 14;
/// The minimum width, in terminal columns, of the text in any column, if the table is too wide for
/// the terminal even when columns that shrink are as narrow as they may be.
const CRAMPED: usize = 4;

/// A column of a table: its heading and its layout.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    name: &'static str,
    right: bool,
    /// Whether the column shrinks when the table is too wide.
    gives_way: bool,
    /// Whether the column is omitted when the table is too wide although columns have shrunk.
    optional: bool,
    /// The minimum width of the column, in terminal columns. If a table is printed in several
    /// parts, this width aligns the column in all parts.
    at_least: usize,
}

impl Column {
    pub(crate) const fn new(name: &'static str) -> Self {
        Self { name, right: false, gives_way: false, optional: false, at_least: 0 }
    }

    /// Sets the minimum width of the column, in terminal columns.
    pub(crate) const fn at_least(mut self, width: usize) -> Self {
        self.at_least = width;
        self
    }

    /// Aligns the column to the right, for numbers.
    pub(crate) const fn right(mut self) -> Self {
        self.right = true;
        self
    }

    /// Lets the column shrink when the table is too wide.
    pub(crate) const fn gives_way(mut self) -> Self {
        self.gives_way = true;
        self
    }

    /// Lets the table omit the column when the table is too wide.
    pub(crate) const fn optional(mut self) -> Self {
        self.optional = true;
        self
    }
}

/// A cell of a table.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cell {
    tone: Tone,
    /// The lines of a tree before the cell's text. They are not escaped, so they must not contain
    /// stored text.
    lead: String,
    text: String,
    /// How many characters at the beginning of the text have the cell's tone. The others are dim.
    /// `None` means that all have the cell's tone.
    toned: Option<usize>,
}

impl Cell {
    pub(crate) fn new(tone: Tone, text: impl Into<String>) -> Self {
        Self { tone, text: text.into(), ..Self::default() }
    }

    /// Creates the cell of a session's short id. Only the characters that distinguish the id from
    /// the other ids in the table have the tone of ids.
    pub(crate) fn id(short: &ShortIds, id: &SessionId) -> Self {
        let ShortId { shown, unique } = short.short(id);
        Self { toned: Some(unique), ..Self::new(Tone::Id, shown) }
    }

    /// Returns the cell with the lines of a tree before its text.
    pub(super) fn behind(mut self, lines: &str) -> Self {
        lines.clone_into(&mut self.lead);
        self
    }

    /// Returns the cell's text, escaped and cut. The text and the tree lines before it together fit
    /// into `width` terminal columns.
    fn fitted(&self, width: usize) -> Cow<'_, str> {
        terminal::cell(&self.text, width.saturating_sub(self.lead.width()))
    }

    /// Returns the number of terminal columns that the cell uses if `width` columns are available.
    fn width(&self, width: usize) -> usize {
        self.lead.width() + self.fitted(width).width()
    }

    fn show(&self, page: &mut Page, width: usize) {
        page.painted(Tone::Dim, &self.lead);
        let text = self.fitted(width);
        let end = self.toned.and_then(|toned| text.char_indices().nth(toned));
        let (toned, others) = text.split_at(end.map_or(text.len(), |(end, _)| end));
        page.painted(self.tone, toned);
        page.painted(Tone::Dim, others);
    }
}

/// A table with a heading and rows.
pub(crate) struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
    is_continued: bool,
}

impl Table {
    pub(crate) fn new(columns: &[Column]) -> Self {
        Self { columns: columns.to_vec(), rows: Vec::new(), is_continued: false }
    }

    /// Sets whether the table continues a previous table. A continued table has no heading.
    pub(crate) fn continued(mut self, is_continued: bool) -> Self {
        self.is_continued = is_continued;
        self
    }

    /// Adds a row with one cell for each column.
    pub(crate) fn row(&mut self, cells: impl Into<Vec<Cell>>) {
        self.rows.push(cells.into());
    }

    /// Adds a row with a single cell, which spans all columns.
    pub(super) fn remark(&mut self, cell: Cell) {
        self.rows.push(vec![cell]);
    }

    /// Lays out the table and adds it to `page`.
    pub(crate) fn show(&self, page: &mut Page) {
        let limit = page.look().width;
        let widths = self.widths(limit, page.look().wrap);
        let heading: Vec<Cell> =
            self.columns.iter().map(|column| Cell::new(Tone::Dim, column.name)).collect();
        let heading = (!self.is_continued).then_some(&heading);
        for row in heading.into_iter().chain(&self.rows) {
            match row.as_slice() {
                [remark] if self.columns.len() > 1 => remark.show(page, limit),
                row => self.show_row(page, row, &widths),
            }
            page.end();
        }
    }

    fn show_row(&self, page: &mut Page, row: &[Cell], widths: &[Option<usize>]) {
        let mut gap = 0;
        for ((cell, column), width) in row.iter().zip(&self.columns).zip(widths) {
            let Some(width) = *width else { continue };
            let fill = width.saturating_sub(cell.width(width));
            page.pad(gap + if column.right { fill } else { 0 });
            cell.show(page, width);
            gap = GAP + if column.right { 0 } else { fill };
        }
    }

    /// Returns the widths of the columns for a table of at most `limit` terminal columns. `None`
    /// stands for an omitted column. `breaks` says whether a longer line would be broken, because it
    /// goes to a terminal.
    fn widths(&self, limit: usize, breaks: bool) -> Vec<Option<usize>> {
        let natural: Vec<_> = (0..self.columns.len()).map(|at| self.natural(at)).collect();
        let mut widths: Vec<_> = natural
            .iter()
            .zip(0..)
            .map(|(width, at)| width.map(|width| self.floor(at, width)))
            .collect();
        for at in (0..self.columns.len()).rev() {
            let optional = self.columns.get(at).is_some_and(|column| column.optional);
            if optional
                && total(&widths) > limit
                && let Some(width) = widths.get_mut(at)
            {
                *width = None;
            }
        }
        if breaks {
            self.cramp(&mut widths, limit);
        }
        // Give the remaining space to the columns that have shrunk, starting with the first.
        for (at, natural) in natural.iter().enumerate() {
            let available = limit.saturating_sub(total(&widths));
            if let (Some(Some(width)), Some(natural)) = (widths.get_mut(at), natural) {
                *width = (*width + available).min(*natural);
            }
        }
        widths
    }

    /// Shrinks the columns with the widest text, in steps, until the table has at most `limit` terminal
    /// columns: a terminal would break ids and words at its edge. Numbers stay whole, because the
    /// beginning of a number is another number.
    fn cramp(&self, widths: &mut [Option<usize>], limit: usize) {
        let least = |(at, column): (usize, &Column)| match column.right {
            true => usize::MAX,
            false => self.lead(at) + CRAMPED,
        };
        let least: Vec<_> = self.columns.iter().enumerate().map(least).collect();
        while total(widths) > limit {
            let shown = widths.iter_mut().zip(&least);
            let wide = shown.filter_map(|(width, least)| {
                let width = width.as_mut()?;
                width.checked_sub(*least).filter(|spare| *spare > 0).map(|spare| (spare, width))
            });
            let Some((_, width)) = wide.max_by_key(|(spare, _)| *spare) else { return };
            *width -= 1;
        }
    }

    /// Returns the width, in terminal columns, that the cells and the heading of column `at` need.
    /// Returns `None` if the table has rows and all cells of the column are empty.
    fn natural(&self, at: usize) -> Option<usize> {
        let widest = self.cells(at).map(|cell| cell.width(usize::MAX)).max().unwrap_or(0);
        let least = |column: &Column| column.name.width().max(column.at_least);
        let least = self.columns.get(at).map_or(0, least);
        (widest > 0 || self.rows.is_empty()).then(|| widest.max(least))
    }

    /// Returns the minimum width to which the column `at` can shrink from its width `natural`, in
    /// terminal columns.
    fn floor(&self, at: usize, natural: usize) -> usize {
        if !self.columns.get(at).is_some_and(|column| column.gives_way) {
            return natural;
        }
        natural.min(self.lead(at) + NARROWEST)
    }

    /// Returns the width, in terminal columns, of the longest tree lines in column `at`.
    fn lead(&self, at: usize) -> usize {
        self.cells(at).map(|cell| cell.lead.width()).max().unwrap_or(0)
    }

    fn cells(&self, at: usize) -> impl Iterator<Item = &Cell> {
        self.rows
            .iter()
            .filter(|row| row.len() > 1 || self.columns.len() == 1)
            .filter_map(move |row| row.get(at))
    }
}

/// Returns the width of a table whose columns have these widths, with the gaps between columns.
/// `None` stands for an omitted column.
fn total(widths: &[Option<usize>]) -> usize {
    let shown = widths.iter().flatten().count();
    widths.iter().flatten().sum::<usize>() + GAP * shown.saturating_sub(1)
}
