//! A text to find, and where it is in other texts.

use std::ops::Range;

use crate::model::{Entry, Piece};

/// A text to find. Letter case matters only if the text contains an uppercase letter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Needle {
    text: String,
    exact: bool,
}

impl Needle {
    pub(crate) fn of(text: &str) -> Self {
        Self { text: text.to_owned(), exact: text.chars().any(char::is_uppercase) }
    }

    /// Checks whether an entry contains the text to find, even in a part that is folded.
    pub(crate) fn is_in(&self, entry: &Entry) -> bool {
        entry.parts.iter().any(|part| match part {
            Piece::Text(text) => self.is_in_text(text.as_str()),
            Piece::Folded { line, text, .. } => {
                self.is_in_text(line.as_str()) || self.is_in_text(text.as_str())
            }
        })
    }

    fn is_in_text(&self, text: &str) -> bool {
        if self.text.is_empty() {
            return false;
        }
        if self.exact { text.contains(&self.text) } else { !self.ranges(text).is_empty() }
    }

    /// Returns the byte ranges of `text` in which the text to find occurs.
    pub(crate) fn ranges(&self, text: &str) -> Vec<Range<usize>> {
        if self.text.is_empty() {
            return Vec::new();
        }
        if self.exact {
            return text.match_indices(&self.text).map(|(at, it)| at..at + it.len()).collect();
        }
        let lower = text.to_lowercase();
        if lower.len() != text.len() {
            return self.ranges_of_chars(text);
        }
        let found = lower.match_indices(&self.text).map(|(at, it)| at..at + it.len());
        // A letter may become another one of the same length, but the borders of letters remain.
        found.filter(|range| text.get(range.clone()).is_some()).collect()
    }

    /// Does the work of [`ranges`](Self::ranges) for a text whose lowercase form has another
    /// length: compares the text to find with the text at each character.
    fn ranges_of_chars(&self, text: &str) -> Vec<Range<usize>> {
        let mut found: Vec<Range<usize>> = Vec::new();
        for (at, _) in text.char_indices() {
            if found.last().is_some_and(|last| last.end > at) {
                continue;
            }
            let rest = text.get(at..).unwrap_or_default();
            let mut wanted = self.text.chars().peekable();
            let mut end = at;
            for c in rest.chars() {
                if wanted.peek().is_none() || !c.to_lowercase().all(|c| wanted.next() == Some(c)) {
                    break;
                }
                end += c.len_utf8();
                if wanted.peek().is_none() {
                    found.push(at..end);
                    break;
                }
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_matters_only_if_a_letter_is_uppercase() {
        let ranges = |needle: &str, text: &str| Needle::of(needle).ranges(text);
        assert_eq!(ranges("ab", "AB xab"), [0..2, 4..6]);
        assert_eq!(ranges("Ab", "AB xAb"), std::slice::from_ref(&(4..6)));
        assert_eq!(ranges("é", "É é"), [0..2, 3..5]);
        // The lowercase form of this letter is longer.
        assert_eq!(ranges("ab", "İab İAB"), [2..4, 7..9]);
        assert!(ranges("", "abc").is_empty());
    }
}
