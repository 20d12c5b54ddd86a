//! Splits text into words and folds them: without case and diacritics.
//!
//! The index, queries and the search for matches in the text of a hit use the same words. SQLite
//! itself splits ASCII text into the same words.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// A word in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Word {
    /// The byte offset in the text at which the word begins.
    pub(crate) start: usize,
    /// The byte offset in the text at which the word ends.
    pub(crate) end: usize,
    /// The word without case and diacritics.
    pub(crate) folded: String,
}

/// Returns the words of a text in their order.
pub(crate) fn words(text: &str) -> impl Iterator<Item = Word> {
    let mut chars = text.char_indices().peekable();
    std::iter::from_fn(move || {
        let (start, first) = chars.find(|(_, c)| c.is_alphanumeric() && !is_combining_mark(*c))?;
        let mut word = Word { start, end: start + first.len_utf8(), folded: String::new() };
        fold(first, &mut word.folded);
        while let Some((at, c)) =
            chars.next_if(|(_, c)| c.is_alphanumeric() || is_combining_mark(*c))
        {
            word.end = at + c.len_utf8();
            fold(c, &mut word.folded);
        }
        Some(word)
    })
}

fn fold(c: char, out: &mut String) {
    if c.is_ascii() {
        out.push(c.to_ascii_lowercase());
    } else {
        out.extend(c.nfd().filter(|c| !is_combining_mark(*c)).flat_map(char::to_lowercase));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_neither_case_nor_diacritics() {
        let folded: Vec<_> =
            words("Re\u{301}sumé, naïve_x2 \u{301}!\0ÜBER").map(|word| word.folded).collect();
        assert_eq!(folded, ["resume", "naive", "x2", "uber"]);
        let word = words("(Ünï)").next().unwrap();
        assert_eq!(&"(Ünï)"[word.start..word.end], "Ünï");
    }
}
