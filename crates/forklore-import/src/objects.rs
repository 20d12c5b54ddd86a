//! Finds the JSON objects in a line that is not simply one object: a damaged line, a line with
//! several records, or a line that is not UTF-8.

use serde::de::IgnoredAny;

/// A part of a line that is not simply one JSON object.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Part<'a> {
    /// White space, zero bytes, or a byte order mark.
    Blank(&'a [u8]),
    /// One complete JSON object.
    Object(&'a [u8]),
    /// The rest of the line, from the first byte that begins neither blank bytes nor a complete
    /// JSON object.
    Rest(&'a [u8]),
}

/// Splits a line into blank bytes, complete JSON objects and a rest. No part depends on the bytes
/// after it. A truncated line therefore has the same first parts as the whole line.
pub(crate) fn parts(line: &[u8]) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = line;
    loop {
        let (blank, more) = rest.split_at(blank_len(rest));
        if !blank.is_empty() {
            parts.push(Part::Blank(blank));
        }
        if more.is_empty() {
            return parts;
        }
        let Some(len) = object_len(more) else {
            parts.push(Part::Rest(more));
            return parts;
        };
        let (object, behind) = more.split_at(len);
        parts.push(Part::Object(object));
        rest = behind;
    }
}

/// Returns the number of leading bytes that are white space, zero bytes or byte order marks.
pub(crate) fn blank_len(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some(rest) = bytes.get(at..) {
        match rest {
            [b' ' | b'\t' | b'\r' | b'\n' | 0, ..] => at += 1,
            [0xef, 0xbb, 0xbf, ..] => at += 3,
            _ => break,
        }
    }
    at
}

fn object_len(bytes: &[u8]) -> Option<usize> {
    if bytes.first() != Some(&b'{') {
        return None;
    }
    let mut values = serde_json::Deserializer::from_slice(bytes).into_iter::<IgnoredAny>();
    match values.next() {
        Some(Ok(IgnoredAny)) => Some(values.byte_offset()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splices_damage_and_blanks_are_distinguished() {
        let line = b"\xef\xbb\xbf {\"a\":1}{\"b\":\"\xff\"}\0\0 {\"c\":{}} {\"d\"\n";
        assert_eq!(
            parts(line),
            [
                Part::Blank(b"\xef\xbb\xbf "),
                Part::Object(b"{\"a\":1}"),
                Part::Object(b"{\"b\":\"\xff\"}"),
                Part::Blank(b"\0\0 "),
                Part::Object(b"{\"c\":{}}"),
                Part::Blank(b" "),
                Part::Rest(b"{\"d\"\n"),
            ]
        );
        assert_eq!(parts(b"\r\n"), [Part::Blank(b"\r\n")]);
        assert_eq!(parts(b"[1]\n"), [Part::Rest(b"[1]\n")]);
        assert_eq!(parts(b""), []);
    }
}
