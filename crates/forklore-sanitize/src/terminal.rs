//! Escapes text for a terminal: replaces characters that would control the terminal or would be
//! invisible to the reader.
//!
//! A hostile character is replaced by its Rust escape, such as `\u{1b}`. The escaping cannot be
//! reversed, because backslashes in the input stay unchanged.
//!
//! | function | for | line ends and tabs |
//! | --- | --- | --- |
//! | [`block`] | a message of several lines | unchanged |
//! | [`line`](fn@line) | an id, a path, an error: one line, nothing lost | `\n`, `\t` |
//! | [`cell`] | a title in a table: one line of limited width | one space |
//! | [`json`] | JSON, which stays valid | unchanged |

mod cell;
mod hostile;
mod json;
mod shown;

use std::borrow::Cow;

pub use cell::cell;
pub use hostile::is_hostile;
pub use json::json;

use shown::Shown;

/// Escapes the hostile characters in text of several lines. Line feeds and tabs stay unchanged. A
/// hostile character could control a terminal or is invisible.
///
/// A carriage return before a line feed is removed; any other carriage return is escaped.
#[must_use]
pub fn block(text: &str) -> Cow<'_, str> {
    let plain = |c| matches!(c, '\n' | '\t');
    if text.contains("\r\n") {
        Cow::Owned(escape(&text.replace("\r\n", "\n"), plain).into_owned())
    } else {
        escape(text, plain)
    }
}

/// Escapes the hostile characters in text that must stay on one line. A hostile character could
/// control a terminal or is invisible. Line feeds and tabs become `\n` and `\t`.
#[must_use]
pub fn line(text: &str) -> Cow<'_, str> {
    escape(text, |_| false)
}

/// Escapes hostile characters (they could control a terminal or are invisible) and excess combining
/// marks. Does not escape a character for which `plain` returns true.
fn escape(text: &str, plain: impl Fn(char) -> bool) -> Cow<'_, str> {
    // A fast path: most text is printable ASCII, which needs no escape.
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut shown = Shown::default();
    for c in text.chars() {
        // The order of the two checks matters: `keeps` must see line feeds too, so that a combining
        // mark right after a line feed counts as a mark without a letter.
        if shown.keeps(c) || plain(c) {
            out.push(c);
        } else {
            out.extend(c.escape_default());
        }
    }
    if out == text { Cow::Borrowed(text) } else { Cow::Owned(out) }
}
