//! Parses the text of a query. Any text that people type becomes valid SQLite syntax.

use forklore_api::HitKind;
use forklore_engine::Error;
use regex::{Regex, RegexBuilder};

use crate::fold::words;

/// The text in a query after which a regular expression begins.
const REGEX: &str = "regex:";
/// The maximum size of a compiled regular expression, in bytes.
const REGEX_BYTES: usize = 1 << 20;
/// The maximum number of phrases of a query, because SQLite limits the depth of an expression.
const MOST_PHRASES: usize = 64;

/// A parsed query. A hit contains all phrases, and matches the regular expression if there is one.
#[derive(Clone, Debug)]
pub(crate) struct Query {
    pub(crate) phrases: Vec<Phrase>,
    pub(crate) regex: Option<Regex>,
}

/// Words that must directly follow each other in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Phrase {
    /// The words, without case and diacritics.
    pub(crate) words: Vec<String>,
    /// Whether the last word may also be only the beginning of a word in the text.
    pub(crate) is_prefix: bool,
}

impl Query {
    /// Returns the query that every document matches.
    pub(crate) fn everything() -> Self {
        Self { phrases: Vec::new(), regex: None }
    }

    /// Parses a query.
    ///
    /// # Errors
    /// `invalid_args` if the query has neither a word nor a regular expression, has too many words,
    /// or has an invalid regular expression.
    pub(crate) fn parse(text: &str) -> Result<Self, Error> {
        let (plain, regex) = split_regex(text);
        let regex = regex.map(compiled).transpose()?;
        let phrases = phrases(plain);
        if phrases.is_empty() && regex.is_none() {
            return Err(invalid("no_words", "the query has no word to look for"));
        }
        if phrases.len() > MOST_PHRASES {
            let message = format!("a query has at most {MOST_PHRASES} words");
            return Err(invalid("too_long", message));
        }
        Ok(Self { phrases, regex })
    }

    /// Returns the query in the syntax of SQLite's FTS5. `kind` restricts the search to one kind of
    /// text. `facets` are the numbers of the facets that a document must have. `None` if every
    /// document matches.
    pub(crate) fn expression(&self, kind: Option<HitKind>, facets: &[i64]) -> Option<String> {
        let phrases: Vec<_> = self.phrases.iter().map(Phrase::quoted).collect();
        let words = (!phrases.is_empty()).then(|| within(kind, &phrases.join(" AND ")));
        let facets = facets.iter().map(|facet| format!("(facet : \"f{facet}\")"));
        let all: Vec<_> = words.into_iter().chain(facets).collect();
        (!all.is_empty()).then(|| all.join(" AND "))
    }

    /// Returns each phrase of the query as an expression of FTS5. `kind` restricts the search to
    /// one kind of text.
    pub(crate) fn expressions(&self, kind: Option<HitKind>) -> Vec<String> {
        self.phrases.iter().map(|phrase| within(kind, &phrase.quoted())).collect()
    }
}

/// Restricts an expression to one kind of text, or to all texts.
fn within(kind: Option<HitKind>, expression: &str) -> String {
    let columns = match kind {
        Some(kind) => kind.as_str().to_owned(),
        None => HitKind::ALL.map(HitKind::as_str).join(" "),
    };
    format!("({{{columns}}} : ({expression}))")
}

impl Phrase {
    fn of(text: &str, is_prefix: bool) -> Option<Self> {
        let words: Vec<_> = words(text).map(|word| word.folded).collect();
        (!words.is_empty()).then_some(Self { words, is_prefix })
    }

    /// Returns the phrase as a string in the syntax of FTS5. The text in quotes contains only
    /// letters, digits and spaces.
    fn quoted(&self) -> String {
        let star = if self.is_prefix { "*" } else { "" };
        format!("\"{}\"{star}", self.words.join(" "))
    }
}

fn invalid(reason: &'static str, message: impl Into<String>) -> Error {
    Error::Invalid { reason, message: message.into() }
}

/// Splits a query into its words and its regular expression. The expression is `None` if the query
/// has none.
fn split_regex(text: &str) -> (&str, Option<&str>) {
    let mut from = 0;
    while let Some(found) = text.get(from..).and_then(|rest| rest.find(REGEX)) {
        let (before, after) = text.split_at_checked(from + found).unwrap_or((text, ""));
        if before.chars().next_back().is_none_or(char::is_whitespace) {
            return (before, after.get(REGEX.len()..));
        }
        from += found + REGEX.len();
    }
    (text, None)
}

fn compiled(pattern: &str) -> Result<Regex, Error> {
    if pattern.is_empty() {
        return Err(invalid("regex", "the regular expression is empty"));
    }
    let built = RegexBuilder::new(pattern).size_limit(REGEX_BYTES).build();
    built.map_err(|error| match error {
        regex::Error::CompiledTooBig(_) => invalid("regex", "the regular expression is too large"),
        _ => invalid("regex", "the regular expression is not valid"),
    })
}

fn phrases(text: &str) -> Vec<Phrase> {
    let mut phrases = Vec::new();
    for (number, part) in text.split('"').enumerate() {
        // Every second part is between two quotes. A missing last quote is at the end.
        if number % 2 == 1 {
            phrases.extend(Phrase::of(part, false));
            continue;
        }
        for word in part.split_whitespace() {
            // A star behind a quoted phrase means nothing: it stands alone and has no word.
            let stem = word.trim_end_matches('*');
            let is_prefix = stem.len() < word.len() && stem.ends_with(char::is_alphanumeric);
            phrases.extend(Phrase::of(stem, is_prefix));
        }
    }
    phrases
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expression(text: &str) -> String {
        Query::parse(text).unwrap().expression(Some(HitKind::Text), &[]).unwrap_or_default()
    }

    #[test]
    fn every_query_becomes_quoted_strings() {
        for (text, expected) in [
            ("retry backoff", r#""retry" AND "backoff""#),
            ("\"a retry\" back*", r#""a retry" AND "back"*"#),
            (
                "a AND NOT (b OR c) NEAR",
                r#""a" AND "and" AND "not" AND "b" AND "or" AND "c" AND "near""#,
            ),
            ("text:a ^b -c +d", r#""text a" AND "b" AND "c" AND "d""#),
            ("\"open", r#""open""#),
            ("x\"y\"z", r#""x" AND "y" AND "z""#),
            ("a\0b", "\"a b\""),
            ("!!! a -> *", r#""a""#),
            ("a regex:b \"c", r#""a""#),
        ] {
            assert_eq!(expression(text), format!("({{text}} : ({expected}))"), "{text}");
        }
        assert_eq!(Query::parse("regex:a b").unwrap().regex.unwrap().as_str(), "a b");
        assert_eq!(Query::parse("xregex:a").unwrap().phrases.len(), 1);
        for text in ["", "  ", "!!", "regex:", "regex:(", "\"\"", &"a ".repeat(65)] {
            assert!(Query::parse(text).is_err(), "{text}");
        }
    }
}
