//! Which characters of a running text are shown as they are.

use unicode_width::UnicodeWidthChar;

use super::hostile::is_hostile;

/// The combining marks that one letter may carry; real languages need up to five.
const MARKS: usize = 8;

/// Walks a text and knows how many combining marks stand on the present letter.
///
/// A mark without a letter would sit on what the program itself printed before the text, and a
/// pile of them covers the lines above: both are escaped like hostile characters.
pub(super) struct Shown {
    marks: usize,
}

impl Default for Shown {
    fn default() -> Self {
        Self { marks: MARKS }
    }
}

impl Shown {
    /// Whether the next character of the text may be printed as it is.
    pub(super) fn keeps(&mut self, c: char) -> bool {
        if is_hostile(c) {
            // Its escape ends with a brace, no letter for a mark to sit on.
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
