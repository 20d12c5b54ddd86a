//! Fits text into the cell of a table: one line with a maximum width.

use std::borrow::Cow;

use unicode_width::UnicodeWidthChar;

use super::shown::Shown;

const ELLIPSIS: char = '\u{2026}';

/// Shortens text to one line that is at most `columns` wide on a terminal. Text that was cut ends
/// with an ellipsis.
///
/// Hostile characters (they could control a terminal or are invisible) are escaped, each run of
/// white space becomes one space, and white space at both ends is removed. Reading stops when the
/// line is full, so long text costs no more than short text.
#[must_use]
pub fn cell(text: &str, columns: usize) -> Cow<'_, str> {
    let text = text.trim();
    let mut cell = Cell::new(columns);
    let mut shown = Shown::default();
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let fits = if c.is_whitespace() {
            while rest.next_if(|next| next.is_whitespace()).is_some() {}
            shown.keeps(' ');
            cell.push(' ')
        } else if shown.keeps(c) {
            cell.push(c)
        } else {
            cell.push_all(c.escape_default())
        };
        if !fits {
            return Cow::Owned(cell.cut());
        }
    }
    if cell.out == text { Cow::Borrowed(text) } else { Cow::Owned(cell.out) }
}

struct Cell {
    out: String,
    columns: usize,
    used: usize,
    /// The length in bytes to which `out` must be truncated so that an ellipsis still fits.
    retain: usize,
}

impl Cell {
    fn new(columns: usize) -> Self {
        Self { out: String::new(), columns, used: 0, retain: 0 }
    }

    fn push(&mut self, c: char) -> bool {
        self.push_all(std::iter::once(c))
    }

    /// Appends characters that must not be separated, such as those of one escape. Returns whether
    /// they fit into the columns.
    fn push_all(&mut self, chars: impl Iterator<Item = char>) -> bool {
        for c in chars {
            self.used += c.width().unwrap_or(0);
            self.out.push(c);
        }
        if self.used < self.columns {
            self.retain = self.out.len();
        }
        self.used <= self.columns
    }

    fn cut(mut self) -> String {
        self.out.truncate(self.retain);
        self.out.truncate(self.out.trim_end().len());
        if self.columns > 0 {
            self.out.push(ELLIPSIS);
        }
        self.out
    }
}
