//! Finds the ranges of a text that match a query.

use std::ops::Range;

use forklore_api::HitKind;

use crate::fold::words;
use crate::query::{Phrase, Query};

/// The maximum number of matches that are recorded for one text.
const MOST: usize = 1_000;

/// The matches of a query in a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Matches {
    /// The byte ranges of the text that match, in ascending order, without overlaps.
    pub(crate) ranges: Vec<Range<usize>>,
    /// How many phrases of the query the text contains, plus 1 if it matches the regular
    /// expression.
    pub(crate) found: usize,
    /// Whether the text matches the query's regular expression.
    pub(crate) has_regex: bool,
}

/// Returns the matches of `query` in `text`.
pub(crate) fn of(text: &str, query: &Query) -> Matches {
    let mut matches = Matches::default();
    let mut found = vec![false; query.phrases.len()];
    if !query.phrases.is_empty() {
        let words: Vec<_> = words(text).collect();
        for at in 0..words.len() {
            let rest = words.get(at..).unwrap_or_default();
            for (phrase, found) in query.phrases.iter().zip(&mut found) {
                if matches.ranges.len() >= MOST && *found {
                    continue;
                }
                let Some(length) = begins(rest.iter().map(|word| &*word.folded), phrase) else {
                    continue;
                };
                *found = true;
                if let (Some(first), Some(last)) = (rest.first(), rest.get(length - 1)) {
                    matches.ranges.push(first.start..last.end);
                }
            }
        }
    }
    if let Some(regex) = &query.regex {
        let some: Vec<_> = regex.find_iter(text).take(MOST).map(|found| found.range()).collect();
        matches.has_regex = !some.is_empty();
        matches.found += usize::from(matches.has_regex);
        matches.ranges.extend(some);
    }
    matches.found += found.into_iter().filter(|found| *found).count();
    matches.ranges.sort_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
    matches.ranges = without_overlaps(std::mem::take(&mut matches.ranges));
    matches
}

/// Returns the number of words of a phrase if `words` begin with the phrase, otherwise `None`.
fn begins<'a>(mut words: impl Iterator<Item = &'a str>, phrase: &Phrase) -> Option<usize> {
    let last = phrase.words.len().checked_sub(1)?;
    for (number, wanted) in phrase.words.iter().enumerate() {
        let word = words.next()?;
        let is_there = if number == last && phrase.is_prefix {
            word.starts_with(wanted.as_str())
        } else {
            word == wanted
        };
        if !is_there {
            return None;
        }
    }
    Some(phrase.words.len())
}

fn without_overlaps(ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let mut joined: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.start < last.end => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    joined
}

/// Returns the kind of text that matches a query best, with the text and its matches. If several
/// kinds match equally well, returns the first of them in [`HitKind::ALL`]. If `kind` is set,
/// considers only this kind of text.
pub(crate) fn best<'a>(
    kind: Option<HitKind>,
    text_of: impl Fn(HitKind) -> &'a str,
    query: &Query,
) -> (HitKind, &'a str, Matches) {
    let kinds = HitKind::ALL.into_iter().filter(|it| kind.is_none_or(|kind| *it == kind));
    let all = kinds.map(|kind| {
        let text = text_of(kind);
        (kind, text, of(text, query))
    });
    let filled = all.filter(|(_, text, _)| !text.is_empty()).rev();
    let best = filled.max_by_key(|(_, _, matches)| (matches.has_regex, matches.found));
    best.unwrap_or((kind.unwrap_or(HitKind::Text), "", Matches::default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_are_where_the_index_found_the_words() {
        let found = |text: &str, query: &str| {
            let matches = of(text, &Query::parse(query).unwrap());
            let texts: Vec<_> = matches.ranges.into_iter().map(|it| text[it].to_owned()).collect();
            (texts.join("|"), matches.found)
        };
        assert_eq!(found("Retry: retrying a RÉTRY", "retry"), ("Retry|RÉTRY".into(), 1));
        assert_eq!(found("Retry: retrying", "retry*"), ("Retry|retrying".into(), 1));
        assert_eq!(found("src/a.rs and a rs", "a.rs src"), ("src|a.rs|a rs".into(), 2));
        assert_eq!(found("aa ab", "regex:a[ab]"), ("aa|ab".into(), 1));
        assert_eq!(
            found("one two three", "\"one two\" \"two three\""),
            ("one two three".into(), 2)
        );
        assert_eq!(found("one", "two"), (String::new(), 0));
    }
}
