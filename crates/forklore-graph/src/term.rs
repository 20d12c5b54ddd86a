//! Parses RDF terms that users enter as parameters of a query.

use forklore_core::SessionId;
use oxigraph::model::{Literal, NamedNode, Term};

use crate::iri;

/// The error for an invalid value of a query's parameter. The value begins like an IRI, a literal
/// or a session but is not valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0}; a value is <IRI>, \"a literal\" (with @en or ^^<type>), a number, true, false, or any \
     other text, and a text that begins with < or \" is given as a literal: \"\\\"so\\\"\""
)]
pub struct NotATerm(&'static str);

/// Parses an RDF term: `<IRI>`, `"text"` with or without a type or language, a number, `true` or
/// `false`. Any other string becomes a literal with that string.
///
/// # Errors
/// [`NotATerm`] if the string begins with `<` or `"` but is neither an absolute IRI nor a literal.
pub fn term(text: &str) -> Result<Term, NotATerm> {
    match text.chars().next() {
        Some('<') => text.parse::<NamedNode>().map(Term::from).map_err(|_| {
            NotATerm("it begins with < and is no absolute IRI in angle brackets")
        }),
        Some('"') => text.parse::<Literal>().map(Term::from).map_err(|_| {
            NotATerm("it begins with a quote and is no literal, whose quotes, backslashes and line breaks are escaped")
        }),
        // Numbers and booleans are typed literals. A string that only begins like one is a plain
        // literal.
        _ => {
            let typed = text.parse::<Literal>().ok().filter(|typed| typed.value() == text);
            Ok(typed.unwrap_or_else(|| Literal::new_simple_literal(text)).into())
        }
    }
}

/// Parses the value of a query's parameter. It is `session:` and the id of a session, or an RDF
/// term as [`term`] parses it.
pub(crate) fn parameter(text: &str) -> Result<Term, NotATerm> {
    let Some(session) = text.strip_prefix("session:") else { return term(text) };
    let session = session.parse::<SessionId>();
    let session = session.map_err(|_| NotATerm("it begins with session: and is no session id"))?;
    Ok(iri::session(&session).into())
}

#[cfg(test)]
mod tests {
    use oxigraph::model::vocab::xsd;

    use super::*;

    #[test]
    fn a_parameter_may_name_a_session() {
        let session = "plan-1".parse::<SessionId>().unwrap();
        assert_eq!(parameter("session:plan-1"), Ok(iri::session(&session).into()));
        assert_eq!(parameter("7"), term("7"));
        assert_eq!(
            parameter("session:"),
            Err(NotATerm("it begins with session: and is no session id"))
        );
    }

    #[test]
    fn values_are_read_as_they_look() {
        let typed = |text: &str, datatype| Ok(Literal::new_typed_literal(text, datatype).into());
        let simple = |text: &str| Ok(Literal::new_simple_literal(text).into());
        assert_eq!(term("<urn:a>"), Ok(NamedNode::new_unchecked("urn:a").into()));
        assert_eq!(term("7"), typed("7", xsd::INTEGER));
        assert_eq!(term("-1.5"), typed("-1.5", xsd::DECIMAL));
        assert_eq!(term("1e9"), typed("1e9", xsd::DOUBLE));
        assert_eq!(term("true"), typed("true", xsd::BOOLEAN));
        assert_eq!(term("\"7\""), simple("7"));
        let year = "\"2026\"^^<http://www.w3.org/2001/XMLSchema#gYear>";
        assert_eq!(term(year), typed("2026", xsd::G_YEAR));
        let english = Literal::new_language_tagged_literal("so", "en").unwrap();
        assert_eq!(term("\"so\"@en"), Ok(english.into()));
        for text in [
            "",
            "winnow",
            "2026-07-25",
            "1.2.3",
            "true story",
            "a \"b\"",
            "?x",
            "_:b",
            " 7",
            " \"x\"",
        ] {
            assert_eq!(term(text), simple(text), "{text}");
        }
    }

    #[test]
    fn what_only_begins_like_a_term_is_refused() {
        for text in ["<", "<a b>", "<relative>", "<urn:a> .", "<urn:a"] {
            assert!(term(text).unwrap_err().to_string().starts_with("it begins with <"), "{text}");
        }
        for text in ["\"", "\"open", "\"a\"b", "\"a\"@", "\"a\"^^xsd:int", "\"a\\q\""] {
            assert!(
                term(text).unwrap_err().to_string().starts_with("it begins with a quote"),
                "{text}"
            );
        }
    }
}
