//! Text in several tones, broken into lines of a certain width.

use std::ops::Range;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::safe::Safe;
use crate::tone::Tone;

/// Pieces of text that stand next to each other on one line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Line(Vec<(Tone, Safe)>);

impl Line {
    /// Creates a line with one piece of text, which is escaped.
    #[must_use]
    pub(crate) fn of(tone: Tone, text: impl AsRef<str>) -> Self {
        Self::default().and(tone, text)
    }

    /// Adds a piece of text, which is escaped.
    #[must_use]
    pub(crate) fn and(self, tone: Tone, text: impl AsRef<str>) -> Self {
        let safe = Safe::inline(text.as_ref());
        self.safe(tone, safe)
    }

    /// Adds a piece of text that is already safe.
    #[must_use]
    pub(crate) fn safe(mut self, tone: Tone, text: Safe) -> Self {
        if !text.is_empty() {
            self.0.push((tone, text));
        }
        self
    }

    /// Adds the pieces of another line.
    #[must_use]
    pub(crate) fn then(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// Returns the pieces of the line.
    #[must_use]
    pub(crate) fn pieces(&self) -> &[(Tone, Safe)] {
        &self.0
    }

    /// Returns the width of the line in columns.
    #[must_use]
    pub(crate) fn width(&self) -> usize {
        self.0.iter().map(|(_, text)| text.as_str().width()).sum()
    }

    /// Returns the text of the line without its tones.
    #[cfg(test)]
    pub(crate) fn text(&self) -> String {
        self.0.iter().map(|(_, text)| text.as_str()).collect()
    }
}

/// Breaks a text into lines of at most `width` columns, each indented by `indent` columns. The
/// ranges in `marks`, in bytes of the text and in ascending order, have a tone of their own.
#[must_use]
pub(crate) fn wrapped(
    text: &Safe,
    tone: Tone,
    marks: &[(Range<usize>, Tone)],
    indent: usize,
    width: usize,
) -> Vec<Line> {
    let width = width.saturating_sub(indent).max(1);
    let indent = " ".repeat(indent);
    let ranges = breaks(text.as_str(), width);
    let lines = ranges.into_iter().map(|range| {
        let mut line = Line::of(Tone::Plain, &indent);
        let mut at = range.start;
        for (mark, own) in marks {
            let (from, to) = (mark.start.clamp(at, range.end), mark.end.clamp(at, range.end));
            if from < to {
                line = line.safe(tone, text.part(at, from)).safe(*own, text.part(from, to));
                at = to;
            }
        }
        line.safe(tone, text.part(at, range.end))
    });
    lines.collect()
}

/// Returns the byte ranges of the lines of a text that is broken at spaces. A word that is wider
/// than a line is broken between characters.
fn breaks(text: &str, width: usize) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    for line in text.split('\n') {
        found.extend(broken(line, width).into_iter().map(|it| it.start + start..it.end + start));
        start += line.len() + 1;
    }
    found
}

fn broken(line: &str, width: usize) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    // The start of the current line, its width so far, and the last position to break at: where the
    // line ends, and where the next one begins, with the width up to there.
    let (mut start, mut used) = (0, 0);
    let mut gap: Option<(Range<usize>, usize)> = None;
    for (at, c) in line.char_indices() {
        let columns = c.width().unwrap_or(0);
        if c == ' ' {
            gap = match gap.take() {
                Some((range, _)) if range.end == at => Some((range.start..at + 1, used + 1)),
                _ => Some((at..at + 1, used + 1)),
            };
        } else if used + columns > width && at > start {
            match gap.take().filter(|(range, _)| range.start > start) {
                Some((range, before)) => {
                    found.push(start..range.start);
                    start = range.end;
                    used = used.saturating_sub(before);
                }
                None => {
                    found.push(start..at);
                    start = at;
                    used = 0;
                }
            }
        }
        used += columns;
    }
    found.push(start..line.trim_end_matches(' ').len().max(start));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str, width: usize) -> Vec<String> {
        let lines = wrapped(&Safe::block(text, 1_000), Tone::Plain, &[], 0, width);
        lines.iter().map(Line::text).collect()
    }

    #[test]
    fn text_breaks_at_spaces_and_wide_characters_count_twice() {
        assert_eq!(lines("one two three", 7), ["one two", "three"]);
        assert_eq!(lines("one  two\n\n  three", 6), ["one", "two", "", "  thre", "e"]);
        assert_eq!(lines("計画 計画", 4), ["計画", "計画"]);
        assert_eq!(lines("計画計", 5), ["計画", "計"]);
        assert_eq!(lines("計", 1), ["計"]);
        assert_eq!(lines("abcdefgh", 3), ["abc", "def", "gh"]);
        assert_eq!(lines("a bcdefgh", 3), ["a", "bcd", "efg", "h"]);
        assert_eq!(lines("", 3), [""]);
    }

    #[test]
    fn marks_have_their_own_tone_across_lines() {
        let text = Safe::block("one two three", 100);
        let lines = wrapped(&text, Tone::Plain, &[(4..9, Tone::Found)], 1, 9);
        let pieces: Vec<_> = lines
            .iter()
            .map(|line| {
                line.pieces().iter().map(|(tone, text)| (*tone, text.as_str())).collect::<Vec<_>>()
            })
            .collect();
        let first = vec![(Tone::Plain, " "), (Tone::Plain, "one "), (Tone::Found, "two")];
        let second = vec![(Tone::Plain, " "), (Tone::Found, "t"), (Tone::Plain, "hree")];
        assert_eq!(pieces, [first, second]);
    }
}
