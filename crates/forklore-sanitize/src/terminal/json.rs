//! Escapes JSON for a terminal: replaces hostile characters by JSON's own escapes.

use std::borrow::Cow;
use std::fmt::Write;

use super::hostile::is_hostile;

/// Escapes the hostile characters in JSON text, for example as `\u202e`. They could control a
/// terminal or are invisible. The result parses to the same value.
///
/// In valid JSON, a hostile character is either inside a string or white space between tokens. Line
/// feeds and tabs between tokens stay unchanged, and a carriage return becomes a space. The result
/// is harmless even if `text` is not valid JSON.
#[must_use]
pub fn json(text: &str) -> Cow<'_, str> {
    let acts = |c| !matches!(c, '\n' | '\t') && is_hostile(c);
    if !text.contains(acts) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '\r' => out.push(' '),
            c if acts(c) => push_escape(&mut out, c),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// Appends the character `c` as a JSON escape. A character outside the basic plane becomes two
/// escapes, a surrogate pair.
fn push_escape(out: &mut String, c: char) {
    for unit in c.encode_utf16(&mut [0; 2]) {
        // Writing to a `String` cannot fail.
        let _ = write!(out, "\\u{unit:04x}");
    }
}
