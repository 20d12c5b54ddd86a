//! Finds the words that only one of two texts has.

use std::ops::Range;

use similar::{ChangeTag, TextDiff};

use crate::safe::Safe;
use crate::tone::Tone;

/// The similarity, from 0 to 1, from which on changes are marked. Below this similarity, nearly
/// every word would be marked.
const SIMILAR: f32 = 0.5;
/// The maximum length in bytes of a text whose changes are marked.
const LONGEST: usize = 20_000;

/// Returns the byte ranges of `own` whose words `other` does not have, each with `tone`. Returns
/// `None` if the texts are equal, if they are not similar, or if one of them is longer than
/// [`LONGEST`].
pub(crate) fn changed(own: &Safe, other: &Safe, tone: Tone) -> Option<Vec<(Range<usize>, Tone)>> {
    let (own, other) = (own.as_str(), other.as_str());
    if own == other || own.len().max(other.len()) > LONGEST {
        return None;
    }
    let diff = TextDiff::from_words(other, own);
    if diff.ratio() < SIMILAR {
        return None;
    }
    let mut at = 0;
    let mut marks = Vec::new();
    for change in diff.iter_all_changes().filter(|change| change.tag() != ChangeTag::Delete) {
        let length = change.value().len();
        if change.tag() == ChangeTag::Insert && !change.value().trim().is_empty() {
            marks.push((at..at + length, tone));
        }
        at += length;
    }
    Some(marks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_words_of_similar_texts_are_marked() {
        let marked = |own: &str, other: &str| {
            let (own, other) = (Safe::block(own, 99), Safe::block(other, 99));
            let marks = changed(&own, &other, Tone::ChangedA)?;
            let words = marks.iter().map(|(range, _)| own.as_str()[range.clone()].to_owned());
            Some(words.collect::<Vec<_>>())
        };
        assert_eq!(
            marked("take nom for this", "take winnow for this"),
            Some(vec!["nom".to_owned()])
        );
        assert_eq!(marked("same", "same"), None);
        assert_eq!(marked("one two", "three four"), None);
    }
}
