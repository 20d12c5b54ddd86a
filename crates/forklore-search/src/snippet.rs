//! Cuts a short piece around the first match out of a text.

use std::ops::Range;

use forklore_api::{Highlight, Snippet};

/// The maximum number of characters before the first match in a piece.
const BEFORE: usize = 60;
/// The maximum number of characters of a piece.
const WHOLE: usize = 240;

/// Returns the piece of `text` around the first of `ranges`, the matches. In the piece, each run of
/// white space becomes one space.
pub(crate) fn snippet(text: &str, ranges: &[Range<usize>]) -> Snippet {
    let first = ranges.first().map_or(0, |range| range.start);
    let from = begin(text, first);
    let mut ranges = ranges.iter().filter(|range| range.start >= from).peekable();
    let mut snippet = Snippet { cut_before: from > 0, ..Snippet::default() };
    let (mut length, mut open) = (0, None);
    for (offset, c) in text.get(from..).unwrap_or_default().char_indices() {
        let at = from + offset;
        if let Some(range) = ranges.peek().filter(|range| at >= range.end) {
            close(&mut snippet, open.take(), length, range);
            ranges.next();
        }
        if length >= WHOLE {
            snippet.cut_after = true;
            break;
        }
        if open.is_none() && ranges.peek().is_some_and(|range| range.contains(&at)) {
            open = Some(length);
        }
        let c = if c.is_whitespace() { ' ' } else { c };
        if c != ' ' || (length > 0 && !snippet.text.ends_with(' ')) {
            snippet.text.push(c);
            length += 1;
        }
    }
    if let Some(range) = ranges.peek() {
        close(&mut snippet, open.take(), length, range);
    }
    snippet
}

fn close(snippet: &mut Snippet, start: Option<usize>, end: usize, _range: &Range<usize>) {
    if let Some(start) = start.filter(|start| *start < end) {
        snippet.highlights.push(Highlight { start, end });
    }
}

/// Returns the byte offset at which a piece begins that shows the match at the byte offset `first`.
/// The piece begins with a whole word if possible.
fn begin(text: &str, first: usize) -> usize {
    let before = text.get(..first).unwrap_or_default();
    let mut starts = before.char_indices().rev().map(|(at, _)| at).take(BEFORE + 1);
    let Some(from) = starts.nth(BEFORE) else { return 0 };
    let cut = text.get(from..first).unwrap_or_default();
    let space = cut.char_indices().find(|(_, c)| c.is_whitespace());
    space.map_or(from, |(at, c)| from + at + c.len_utf8())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, words: &[&str]) -> String {
        let mut ranges: Vec<_> =
            words.iter().filter_map(|word| text.find(word).map(|at| at..at + word.len())).collect();
        ranges.sort_by_key(|range| range.start);
        let snippet = snippet(text, &ranges);
        let mut out = String::new();
        for (at, c) in snippet.text.chars().enumerate() {
            if snippet.highlights.iter().any(|it| it.start == at) {
                out.push('[');
            }
            out.push(c);
            if snippet.highlights.iter().any(|it| it.end == at + 1) {
                out.push(']');
            }
        }
        let dots = |cut| if cut { "…" } else { "" };
        format!("{}{out}{}", dots(snippet.cut_before), dots(snippet.cut_after))
    }

    #[test]
    fn a_snippet_shows_the_matches_in_one_line() {
        assert_eq!(shown("one\n\n  two", &["two"]), "one [two]");
        assert_eq!(shown("  é two", &["é", "two"]), "[é] [two]");
        assert_eq!(shown("nothing", &[]), "nothing");
        assert_eq!(shown("", &[]), "");
        let long = format!("{} needle {}", "hay ".repeat(100), "hay ".repeat(100));
        let piece = shown(&long, &["needle"]);
        assert!(piece.starts_with("…hay hay") && piece.ends_with('…'), "{piece}");
        assert!(piece.contains("hay [needle] hay"), "{piece}");
        let solid = shown(&"x".repeat(1_000), &[&"x".repeat(1_000)]);
        assert_eq!(solid, format!("[{}]…", "x".repeat(WHOLE)));
    }
}
