//! Text that is safe to show. Session text is hostile, so it is converted to [`Safe`] when it is
//! loaded. The state of the interface and its view contain no other session text.

use std::fmt;

use forklore_core::summary::beginning;
use forklore_core::units::bytes;
use forklore_sanitize::terminal;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The width in columns to which a text of one line is shortened. No terminal is wider.
const WIDEST: usize = 1_000;

/// Text without characters that control a terminal or are invisible.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Safe(String);

impl Safe {
    /// Escapes a text, and converts it to one line of at most 1,000 columns: each run of white
    /// space becomes one space.
    #[must_use]
    pub fn line(text: &str) -> Self {
        Self(terminal::cell(text, WIDEST).into_owned())
    }

    /// Escapes a text without shortening it. Spaces stay as they are, and a line break becomes
    /// `\n`.
    #[must_use]
    pub fn inline(text: &str) -> Self {
        Self(terminal::line(text).into_owned())
    }

    /// Escapes a text of several lines. If the text is longer than `most` bytes, its end is left
    /// out, and a last line states the size of that end.
    #[must_use]
    pub fn block(text: &str, most: usize) -> Self {
        let shown = beginning(text, most);
        let mut safe = terminal::block(shown.trim_end()).replace('\t', "    ");
        let hidden = text.len() - shown.len();
        if hidden > 0 {
            safe.push_str(&format!("\n... {} more", bytes(hidden as u64)));
        }
        Self(safe)
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Checks whether there is no text.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the text, cut with an ellipsis if it is wider than `columns`.
    #[must_use]
    pub fn fit(&self, columns: usize) -> Self {
        if self.0.width() <= columns {
            return self.clone();
        }
        let mut used = 0;
        let mut cut = String::new();
        for c in self.0.chars() {
            used += c.width().unwrap_or(0);
            if used >= columns {
                break;
            }
            cut.push(c);
        }
        if columns > 0 {
            cut.push('…');
        }
        Self(cut)
    }

    /// Returns a part of the text between two byte positions. Empty if there is no such part.
    pub(crate) fn part(&self, from: usize, to: usize) -> Self {
        Self(self.0.get(from..to).unwrap_or_default().to_owned())
    }
}

impl fmt::Display for Safe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_text_becomes_harmless() {
        assert_eq!(Safe::line("a\u{1b}[31mb\r\n\u{202e}c").as_str(), "a\\u{1b}[31mb \\u{202e}c");
        assert_eq!(Safe::block("a\tb\n\u{7}c\r\nd\n\n", 100).as_str(), "a    b\n\\u{7}c\nd");
        let fit = |columns| Safe::line("計画ab").fit(columns).0;
        assert_eq!([fit(0), fit(1), fit(2), fit(5), fit(6)], ["", "…", "…", "計画…", "計画ab"]);
        assert_eq!(Safe::block("abcdef", 4).as_str(), "abcd\n... 2 B more");
    }
}
