//! Escapes text for HTML, as the content of an element and as the value of a quoted attribute.

use std::borrow::Cow;

use crate::terminal;

/// Escapes text so that it is only text in an HTML page: `&`, `<`, `>` and quotes become character
/// references. Characters that could reorder or hide text (see [`terminal::is_hostile`]) become
/// their Rust escapes. Line feeds and tabs stay unchanged.
#[must_use]
pub fn text(text: &str) -> Cow<'_, str> {
    let text = terminal::block(text);
    if !text.contains(['&', '<', '>', '"', '\'']) {
        return text;
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stays_text() {
        assert_eq!(text("a < b\n\t\"c\" & 'd'"), "a &lt; b\n\t&quot;c&quot; &amp; &#39;d&#39;");
        assert_eq!(text("x\u{202e}y\0"), "x\\u{202e}y\\u{0}");
        assert!(matches!(text("plain"), Cow::Borrowed("plain")));
    }
}
