//! Decides which characters are displayed unchanged.

use unicode_width::UnicodeWidthChar;

use super::hostile::is_hostile;

/// The maximum number of combining marks on one letter that are displayed. Real languages need up
/// to five.
const MARKS: usize = 8;

/// A filter that decides which characters of a text can be displayed unchanged, and that counts the
/// combining marks on the current letter. The caller passes one character after the other.
///
/// A combining mark without a letter would modify what the program itself printed before the text,
/// and a stack of marks would cover the lines above. Such marks are escaped, as are hostile
/// characters, which could control a terminal.
pub(super) struct Shown {
    marks: usize,
}

impl Default for Shown {
    fn default() -> Self {
        Self { marks: MARKS }
    }
}

impl Shown {
    /// Returns whether the next character of the text may be displayed unchanged.
    pub(super) fn keeps(&mut self, c: char) -> bool {
        if is_hostile(c) {
            // The escape of a hostile character ends with `}`, which must not receive a combining
            // mark.
            self.marks = MARKS;
            return false;
        }
        if c.width() == Some(0) {
            self.marks = self.marks.saturating_add(1);
            self.marks <= MARKS
        } else {
            self.marks = 0;
            true
        }
    }
}
