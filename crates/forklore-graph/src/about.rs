//! Builds quads about one subject in the named graph of a session.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use jiff::Timestamp;
use oxigraph::model::vocab::{rdf, xsd};
use oxigraph::model::{Literal, NamedNode, NamedNodeRef, Quad, Term};

/// A writer of quads (RDF statements) about `subject` in the named graph `graph`. It adds the quads
/// to `out`.
pub(crate) struct About<'a> {
    pub(crate) out: &'a mut Vec<Quad>,
    pub(crate) graph: &'a NamedNode,
    pub(crate) subject: NamedNode,
}

impl About<'_> {
    pub(crate) fn put(&mut self, predicate: NamedNodeRef<'_>, object: impl Into<Term>) {
        self.out.push(Quad::new(self.subject.clone(), predicate, object, self.graph.clone()));
    }

    pub(crate) fn is(&mut self, class: NamedNodeRef<'_>) {
        self.put(rdf::TYPE, class.into_owned());
    }

    /// Adds a string as a value of the subject. If RDF cannot express a character in the string,
    /// adds two literals: the bytes of the string in base64, and the string with such characters
    /// replaced.
    pub(crate) fn text(&mut self, predicate: NamedNodeRef<'_>, text: &str) {
        let readable = readable(text);
        if readable != text {
            let bytes = BASE64_STANDARD.encode(text);
            self.put(predicate, Literal::new_typed_literal(bytes, xsd::BASE_64_BINARY));
        }
        self.put(predicate, Literal::new_simple_literal(readable));
    }

    /// Adds a string, meant for human readers, as a value of the subject. Converts its line ends to
    /// `\n`, and replaces characters that RDF cannot express.
    pub(crate) fn gist(&mut self, predicate: NamedNodeRef<'_>, text: &str) {
        let text = readable(&text.replace("\r\n", "\n").replace('\r', "\n"));
        self.put(predicate, Literal::new_simple_literal(text));
    }

    /// Adds JSON text as a value of the subject. If RDF cannot express a character in it, escaped
    /// or not, adds two literals: the bytes in base64, and the text with such characters replaced.
    pub(crate) fn json(&mut self, predicate: NamedNodeRef<'_>, json: &str) {
        let readable = readable_json(json);
        if readable != json {
            let bytes = BASE64_STANDARD.encode(json);
            self.put(predicate, Literal::new_typed_literal(bytes, xsd::BASE_64_BINARY));
        }
        self.put(predicate, Literal::new_simple_literal(readable));
    }

    pub(crate) fn number(&mut self, predicate: NamedNodeRef<'_>, number: u64) {
        self.put(predicate, Literal::new_typed_literal(number.to_string(), xsd::INTEGER));
    }

    pub(crate) fn some(&mut self, predicate: NamedNodeRef<'_>, number: Option<u64>) {
        if let Some(number) = number {
            self.number(predicate, number);
        }
    }

    /// Adds `true` as the value of the subject's `predicate` if `flag` is true. Otherwise adds
    /// nothing.
    pub(crate) fn flag(&mut self, predicate: NamedNodeRef<'_>, flag: bool) {
        if flag {
            self.put(predicate, Literal::new_typed_literal("true", xsd::BOOLEAN));
        }
    }

    pub(crate) fn money(&mut self, predicate: NamedNodeRef<'_>, amount: f64) {
        self.put(predicate, Literal::from(amount));
    }

    pub(crate) fn time(&mut self, predicate: NamedNodeRef<'_>, time: Timestamp) {
        let mut text = time.to_string();
        // XML Schema writes negative years with four digits, not with six.
        if let Some(year) = text.strip_prefix("-00") {
            text = format!("-{year}");
        }
        self.put(predicate, Literal::new_typed_literal(text, xsd::DATE_TIME));
    }
}

#[cfg(test)]
/// Parses the text of a time literal that [`About::time`] added. Returns `None` for any other text.
pub(crate) fn time_of(text: &str) -> Option<Timestamp> {
    match text.strip_prefix('-') {
        Some(rest) => format!("-00{rest}").parse().ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
/// Decodes a base64 literal that [`About::text`] added for a string. Returns `None` for any other
/// text.
pub(crate) fn text_of_bytes(base64: &str) -> Option<String> {
    String::from_utf8(BASE64_STANDARD.decode(base64).ok()?).ok()
}

/// Replaces each character that some RDF format cannot express (see [`is_sayable`]).
fn readable(text: &str) -> String {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t')) {
        return text.to_owned();
    }
    text.chars().map(|c| if is_sayable(c) { c } else { char::REPLACEMENT_CHARACTER }).collect()
}

/// Replaces each character in JSON text that some RDF format cannot express. Also replaces the JSON
/// escapes of zero bytes and lone surrogates.
fn readable_json(json: &str) -> String {
    let text = forklore_core::data::without_lone_surrogates(json);
    if !text.contains("\\u0000") {
        return readable(&text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = &*text;
    while let Some((before, escape)) = rest.find('\\').and_then(|at| rest.split_at_checked(at)) {
        out.push_str(before);
        let (stored, len) = match escape.strip_prefix("\\u0000") {
            Some(_) => ("\\ufffd", 6),
            None => {
                let len = escape.char_indices().nth(2).map_or(escape.len(), |(end, _)| end);
                (escape.get(..len).unwrap_or_default(), len)
            }
        };
        out.push_str(stored);
        rest = escape.get(len..).unwrap_or_default();
    }
    out.push_str(rest);
    readable(&out)
}

/// Checks whether every RDF format can express the character and reads it back unchanged. XML
/// forbids or restricts the other characters, and it reads a carriage return as a line feed.
fn is_sayable(c: char) -> bool {
    matches!(c, '\t' | '\n' | ' '..='\u{7e}' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}')
        || c >= '\u{10000}'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statements(put: impl FnOnce(&mut About<'_>)) -> Vec<String> {
        let graph = NamedNode::new_unchecked("urn:g");
        let mut out = Vec::new();
        put(&mut About { out: &mut out, graph: &graph, subject: graph.clone() });
        out.into_iter().map(|quad| quad.object.to_string()).collect()
    }

    const TEXT: NamedNodeRef<'_> = crate::vocabulary::TEXT;

    #[test]
    fn a_text_that_rdf_lacks_is_bytes_and_a_text() {
        assert_eq!(statements(|about| about.text(TEXT, "é\n\"x\"")), [r#""é\n\"x\"""#]);
        let base64 = "^^<http://www.w3.org/2001/XMLSchema#base64Binary>";
        let both = [format!("\"YQBi\"{base64}"), "\"a\u{fffd}b\"".into()];
        assert_eq!(statements(|about| about.text(TEXT, "a\0b")), both);
        assert_eq!(text_of_bytes("YQBi").as_deref(), Some("a\0b"));
        let halves = statements(|about| about.json(TEXT, r#"{"a":"\ud800\\u0000\u0000"}"#));
        assert_eq!(halves[1], r#""{\"a\":\"\\ufffd\\\\u0000\\ufffd\"}""#);
        assert_eq!(
            halves[0].strip_suffix(base64).and_then(|text| text_of_bytes(text.trim_matches('"'))),
            Some(r#"{"a":"\ud800\\u0000\u0000"}"#.into())
        );
    }

    #[test]
    fn every_moment_comes_back() {
        for text in
            ["2026-11-22T16:04:13.120001Z", "-009999-01-02T01:59:59Z", "0000-01-01T00:00:00Z"]
        {
            let time: Timestamp = text.parse().unwrap();
            let object = statements(|about| about.time(TEXT, time)).remove(0);
            let lexical = object.trim_start_matches('"').split('"').next().unwrap();
            assert_eq!(time_of(lexical), Some(time), "{lexical}");
        }
    }
}
