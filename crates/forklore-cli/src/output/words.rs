//! Breaks text with words in several tones into lines of a certain width.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::{Page, Tone};

/// A word or a run of spaces, in a tone. The text is escaped and contains no line break.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) tone: Tone,
    pub(crate) text: String,
}

/// A line of words.
pub(crate) type Line = Vec<Word>;

/// Breaks each line into lines of at most `width` columns, at spaces. A word that is wider is
/// broken between characters.
pub(crate) fn wrapped(lines: &[Line], width: usize) -> Vec<Line> {
    let mut broken = Vec::new();
    for line in lines {
        let mut rest = Wrapping { width: width.max(1), ..Wrapping::default() };
        line.iter().for_each(|word| rest.add(word));
        broken.extend(rest.finish());
    }
    broken
}

/// Returns the first `most` lines, and a line that states how many lines remain. If at most one
/// line would remain, returns all lines instead.
pub(crate) fn most(mut lines: Vec<Line>, most: usize) -> Vec<Line> {
    // A note about one omitted line would need a line too, so show the line instead.
    let hidden = lines.len().saturating_sub(most);
    if hidden > 1 {
        lines.truncate(most);
        lines.push(vec![Word { tone: Tone::Dim, text: format!("... {hidden} more lines") }]);
    }
    lines
}

/// Prints the words of a line. Returns how many columns they use.
pub(crate) fn put(page: &mut Page, line: &Line) -> usize {
    for words in line.chunk_by(|a, b| a.tone == b.tone) {
        let tone = words.first().map_or(Tone::Plain, |word| word.tone);
        let text: String = words.iter().map(|word| word.text.as_str()).collect();
        page.painted(tone, &text);
    }
    line.iter().map(|word| word.text.width()).sum()
}

#[derive(Default)]
struct Wrapping {
    width: usize,
    lines: Vec<Line>,
    line: Line,
    used: usize,
    /// The spaces after the last word. They are dropped if the line ends there.
    spaces: Option<Word>,
}

impl Wrapping {
    fn add(&mut self, word: &Word) {
        if word.text.trim().is_empty() {
            match &mut self.spaces {
                Some(spaces) => spaces.text.push_str(&word.text),
                None => self.spaces = Some(word.clone()),
            }
            return;
        }
        let gap = self.spaces.as_ref().map_or(0, |spaces| spaces.text.width());
        if self.used > 0 && self.used + gap + word.text.width() > self.width {
            self.end();
        }
        if let Some(spaces) = self.spaces.take() {
            self.push(&spaces);
        }
        self.push(word);
    }

    /// Adds the characters of a word, and ends the line wherever it is full.
    fn push(&mut self, word: &Word) {
        let mut part = Word { tone: word.tone, text: String::new() };
        for c in word.text.chars() {
            let columns = c.width().unwrap_or(0);
            if self.used > 0 && self.used + columns > self.width {
                self.line.push(std::mem::replace(
                    &mut part,
                    Word { tone: word.tone, text: String::new() },
                ));
                self.end();
            }
            part.text.push(c);
            self.used += columns;
        }
        if !part.text.is_empty() {
            self.line.push(part);
        }
    }

    fn end(&mut self) {
        self.lines.push(std::mem::take(&mut self.line));
        self.used = 0;
        self.spaces = None;
    }

    fn finish(mut self) -> Vec<Line> {
        self.end();
        self.lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str, width: usize) -> Vec<String> {
        let words = text.split_inclusive(' ').flat_map(|word| {
            let trimmed = word.trim_end_matches(' ');
            [trimmed, word.get(trimmed.len()..).unwrap()]
        });
        let words = words.filter(|text| !text.is_empty());
        let line = words.map(|text| Word { tone: Tone::Plain, text: text.to_owned() }).collect();
        let text = |line: Line| line.into_iter().map(|word| word.text).collect();
        wrapped(&[line], width).into_iter().map(text).collect()
    }

    #[test]
    fn lines_break_at_spaces_and_wide_characters_count_twice() {
        assert_eq!(lines("one two three", 7), ["one two", "three"]);
        assert_eq!(lines("計画 計画", 4), ["計画", "計画"]);
        assert_eq!(lines("計画計", 5), ["計画", "計"]);
        assert_eq!(lines("  abcdef gh", 4), ["  ab", "cdef", "gh"]);
        assert_eq!(lines("", 4), [""]);
        assert_eq!(lines("計", 1), ["計"]);
    }
}
