//! Parses SPARQL, and explains syntax errors to people.

use spargebra::{Query, SparqlParser};

use crate::query::QueryError;
use crate::vocabulary::PREFIXES;

/// Maximum number of tokens that a syntax error lists as expected.
const SHOWN: usize = 4;

/// Parses a SPARQL query, which may use [`PREFIXES`] without declaring them.
///
/// # Errors
/// `Syntax`, `Rule` or `Update`.
pub(crate) fn parse(text: &str) -> Result<Query, QueryError> {
    if text.trim().is_empty() {
        return Err(QueryError::Rule("it is empty".into()));
    }
    let wrong = match parser().parse_query(text) {
        Ok(parsed) => return Ok(parsed),
        Err(wrong) => wrong.to_string(),
    };
    if parser().parse_update(text).is_ok_and(|update| !update.operations.is_empty()) {
        return Err(QueryError::Update);
    }
    // The SPARQL library reports the position only in the error message: `error at 1:8: expected
    // ...`.
    let position = wrong.strip_prefix("error at ").and_then(|rest| {
        let (location, message) = rest.split_once(": ")?;
        let (line, column) = location.split_once(':')?;
        Some((line.parse().ok()?, column.parse().ok()?, expected(message)))
    });
    Err(match position {
        Some((line, column, message)) => QueryError::Syntax { line, column, message },
        None => QueryError::Rule(wrong),
    })
}

/// Rewrites the parser's message about expected tokens for people. Lists at most [`SHOWN`] tokens.
fn expected(message: &str) -> String {
    if message.contains("Prefix not found") {
        return "the prefix is not declared".into();
    }
    let list = message.strip_prefix("expected ").unwrap_or(message);
    let mut all: Vec<&str> = Vec::new();
    for item in items(list.strip_prefix("one of ").unwrap_or(list)) {
        let value = match item {
            "\"?\"" | "\"$\"" => "a variable",
            "\"<\"" => "<IRI>",
            item if item.starts_with("\"'") || item.starts_with("\"\\\"") => "a text",
            // Of the character sets in the list, only the set of digits is informative.
            item if item.starts_with("['0'") => "a number",
            item => item,
        };
        if !all.contains(&value) {
            all.push(value);
        }
    }
    let answers = all.iter().filter(|text| !text.starts_with('['));
    let shown: Vec<_> = answers.copied().take(SHOWN).collect();
    let others = if all.len() > shown.len() { " or something else" } else { "" };
    match shown.as_slice() {
        [] => "this cannot stand here".into(),
        shown => format!("expected {}{others}", shown.join(", ")),
    }
}

/// Splits a list of tokens at each comma that is followed by a space. Ignores commas inside quotes.
fn items(list: &str) -> Vec<&str> {
    let (mut items, mut begin) = (Vec::new(), 0);
    let (mut quoted, mut escaped) = (false, false);
    for (at, char) in list.char_indices() {
        let ends = char == ',' && !quoted && list.get(at + 1..at + 2) == Some(" ");
        if ends {
            items.extend(list.get(begin..at));
            begin = at + 2;
        }
        quoted ^= char == '"' && !escaped;
        escaped = char == '\\' && !escaped;
    }
    items.extend(list.get(begin..).filter(|last| !last.is_empty()));
    items
}

fn parser() -> SparqlParser {
    PREFIXES.into_iter().fold(SparqlParser::new(), |parser, (name, iri)| {
        // This cannot fail, because the prefixes are constants of this crate and valid IRIs.
        parser.with_prefix(name, iri).unwrap_or_default()
    })
}
