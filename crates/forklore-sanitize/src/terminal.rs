//! Text for a terminal: what would act on the terminal or hide from the reader is made visible.
//!
//! A hostile character is written the way Rust writes it, `\u{1b}`. The escapes are for reading:
//! a backslash of the text itself stays as it is, so they cannot be turned back.
//!
//! | function | for | line ends and tabs |
//! | --- | --- | --- |
//! | [`block`] | a message, over several lines | kept |
//! | [`line`](fn@line) | an id, a path, an error: one line, nothing lost | `\n`, `\t` |
//! | [`cell`] | a title in a table: one line of limited width | one space |
//! | [`json`] | JSON, which stays JSON | kept |

mod cell;
mod hostile;
mod json;
mod shown;

use std::borrow::Cow;

pub use cell::cell;
pub use hostile::is_hostile;
pub use json::json;

use shown::Shown;

/// Escapes a text of several lines: line feeds and tabs are kept.
///
/// A carriage return in front of a line feed is left out, any other is escaped.
#[must_use]
pub fn block(text: &str) -> Cow<'_, str> {
    let plain = |c| matches!(c, '\n' | '\t');
    if text.contains("\r\n") {
        Cow::Owned(escape(&text.replace("\r\n", "\n"), plain).into_owned())
    } else {
        escape(text, plain)
    }
}

/// Escapes a text that has to stay on one line: line feeds and tabs become `\n` and `\t`.
#[must_use]
pub fn line(text: &str) -> Cow<'_, str> {
    escape(text, |_| false)
}

/// Escapes every hostile character but the `plain` ones.
fn escape(text: &str, plain: impl Fn(char) -> bool) -> Cow<'_, str> {
    // Most text is printable ASCII and needs no closer look.
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut shown = Shown::default();
    for c in text.chars() {
        // In this order, so that a mark behind a line feed is one without a letter.
        if shown.keeps(c) || plain(c) {
            out.push(c);
        } else {
            out.extend(c.escape_default());
        }
    }
    if out == text { Cow::Borrowed(text) } else { Cow::Owned(out) }
}
