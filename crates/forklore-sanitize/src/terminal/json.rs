//! Escapes JSON for a terminal: replaces hostile characters and excess combining marks by JSON's
//! own escapes.

use std::borrow::Cow;
use std::fmt::Write;

use super::shown::Shown;

/// Escapes the hostile characters in JSON text, for example as `\u202e`, and excess combining
/// marks. Hostile characters could control a terminal or are invisible. The result parses to the
/// same value.
///
/// In valid JSON, such a character is either inside a string or white space between tokens. Line
/// feeds and tabs between tokens stay unchanged, and a carriage return becomes a space. The result
/// is harmless even if `text` is not valid JSON.
///
/// A mark at the beginning of `text` is escaped, because the program may have printed a letter
/// before it. Therefore a caller can escape a JSON text piece by piece.
#[must_use]
pub fn json(text: &str) -> Cow<'_, str> {
    // A fast path: most JSON is printable ASCII, which needs no escape.
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t')) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut shown = Shown::default();
    for c in text.chars() {
        match c {
            _ if shown.keeps(c) => out.push(c),
            '\n' | '\t' => out.push(c),
            '\r' => out.push(' '),
            c => push_escape(&mut out, c),
        }
    }
    if out == text { Cow::Borrowed(text) } else { Cow::Owned(out) }
}

/// Appends the character `c` as a JSON escape. A character outside the basic plane becomes two
/// escapes, a surrogate pair.
fn push_escape(out: &mut String, c: char) {
    for unit in c.encode_utf16(&mut [0; 2]) {
        // Writing to a `String` cannot fail.
        let _ = write!(out, "\\u{unit:04x}");
    }
}
