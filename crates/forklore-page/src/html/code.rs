//! Marks comments, strings, numbers and keywords in code, so that a style sheet can colour them.
//!
//! This is no parser: it knows how comments and strings begin and end, and the keywords. So it takes
//! time in proportion to the code, whatever the code is, and never fails. Marks are classes, because
//! content policies forbid styles.

mod languages;

use forklore_sanitize::html::text;

use languages::{Syntax, named};

/// The maximum number of marks in one text. The rest has none: a page with an element for every word
/// would be slow.
pub(super) const MOST_MARKS: usize = 250;

/// What a piece of code is. Each has a class in the style sheets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Piece {
    Plain,
    Comment,
    Text,
    Number,
    Keyword,
}

impl Piece {
    fn class(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Comment => Some("c-note"),
            Self::Text => Some("c-text"),
            Self::Number => Some("c-number"),
            Self::Keyword => Some("c-word"),
        }
    }
}

/// Checks whether code in a language is marked.
pub(super) fn has_marks(language: &str) -> bool {
    named(language).is_some()
}

/// Returns code in a language as escaped HTML with at most `left` marks, and subtracts their number
/// from `left`. `None` if the language is not known.
pub(super) fn marked(language: &str, code: &str, left: &mut usize) -> Option<String> {
    let syntax = named(language)?;
    let mut html = String::with_capacity(code.len() * 2);
    let (mut rest, mut plain) = (code, 0);
    while let Some(unread) = rest.get(plain..).filter(|unread| !unread.is_empty()) {
        if *left == 0 {
            break;
        }
        let (piece, length) = next(syntax, unread);
        let Some(class) = piece.class() else {
            plain += length;
            continue;
        };
        let (before, piece) = (rest.get(..plain), unread.get(..length));
        html.push_str(&text(before.unwrap_or_default()));
        let shown = text(piece.unwrap_or_default());
        html.push_str(&format!("<span class=\"{class}\">{shown}</span>"));
        rest = unread.get(length..).unwrap_or_default();
        plain = 0;
        *left -= 1;
    }
    html.push_str(&text(rest));
    Some(html)
}

/// Returns the piece with which the code begins, and its length in bytes, at least one character.
fn next(syntax: &Syntax, code: &str) -> (Piece, usize) {
    let first = code.chars().next().unwrap_or_default();
    if let Some(length) = comment(syntax, code) {
        return (Piece::Comment, length);
    }
    if let Some(length) = string(syntax, code, first) {
        return (Piece::Text, length);
    }
    if first.is_alphanumeric() || first == '_' {
        let is_word = |c: char| c.is_alphanumeric() || c == '_' || (c == '.' && first.is_numeric());
        let word = code.get(..code.find(|c| !is_word(c)).unwrap_or(code.len())).unwrap_or(code);
        let piece = match first.is_ascii_digit() {
            true => Piece::Number,
            false if syntax.is_keyword(word) => Piece::Keyword,
            false => Piece::Plain,
        };
        return (piece, word.len());
    }
    (Piece::Plain, first.len_utf8())
}

fn comment(syntax: &Syntax, code: &str) -> Option<usize> {
    if let Some((open, close)) = syntax.around
        && let Some(inside) = code.strip_prefix(open)
    {
        let end = inside.find(close).map(|at| open.len() + at + close.len());
        return Some(end.unwrap_or(code.len()));
    }
    let begins = syntax.line.iter().any(|begin| code.starts_with(begin));
    begins.then(|| line(code))
}

fn string(syntax: &Syntax, code: &str, quote: char) -> Option<usize> {
    if !syntax.quotes.contains(quote) {
        return None;
    }
    let triple = String::from(quote).repeat(3);
    if let Some(inside) = code.strip_prefix(&triple).filter(|_| syntax.has_triple) {
        return Some(inside.find(&triple).map_or(code.len(), |at| at + 2 * triple.len()));
    }
    // In Rust, a single quote also begins a lifetime.
    let most = if quote == '\'' && syntax.has_lifetimes { 12 } else { usize::MAX };
    let mut escaped = false;
    for (at, c) in code.char_indices().skip(1) {
        match c {
            _ if at > most => return None,
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return Some(at + c.len_utf8()),
            ' ' | ',' | '>' if most != usize::MAX && at > 1 => return None,
            '\n' if quote != '`' => return (most == usize::MAX).then_some(at),
            _ => {}
        }
    }
    (most == usize::MAX).then_some(code.len())
}

fn line(code: &str) -> usize {
    code.find('\n').unwrap_or(code.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shows the marks as the first letter of the class in brackets.
    fn shown(language: &str, code: &str) -> String {
        let html = marked(language, code, &mut 100).unwrap();
        html.replace("<span class=\"c-", "[").replace("\">", ":").replace("</span>", "]")
    }

    #[test]
    fn comments_strings_numbers_and_keywords_are_marked() {
        let rust = "fn a<'a>(b: &'a str) -> char { '\\n' } // x";
        let expected = "[word:fn] a&lt;&#39;a&gt;(b: &amp;&#39;a str) -&gt; char { \
                        [text:&#39;\\n&#39;] } [note:// x]";
        assert_eq!(shown("rust", rust), expected);
        let python = "def a():\n  \"\"\"two\nlines\"\"\"\n  return 0x1f # end";
        let expected = "[word:def] a():\n  [text:&quot;&quot;&quot;two\nlines&quot;&quot;&quot;]\n  \
                        [word:return] [number:0x1f] [note:# end]";
        assert_eq!(shown("Python", python), expected);
        assert_eq!(shown("ts", "const a = `b\nc`"), "[word:const] a = [text:`b\nc`]");
        assert_eq!(shown("sql", "SELECT 'a' -- b"), "[word:SELECT] [text:&#39;a&#39;] [note:-- b]");
        assert_eq!(shown("html", "<!-- a --><b>"), "[note:&lt;!-- a --&gt;]&lt;b&gt;");
        assert_eq!(marked("klingon", "a", &mut 1), None);
    }

    #[test]
    fn what_does_not_end_goes_to_the_end_and_long_code_has_few_marks() {
        assert_eq!(shown("c", "/* a"), "[note:/* a]");
        assert_eq!(shown("js", "\"a\nb"), "[text:&quot;a]\nb");
        assert_eq!(shown("js", "\"a\\"), "[text:&quot;a\\]");
        assert_eq!(shown("rust", "'"), "&#39;");
        let mut left = MOST_MARKS;
        let long = marked("js", &"if (1) ".repeat(10_000), &mut left).unwrap();
        assert_eq!((long.matches("<span").count(), left), (MOST_MARKS, 0));
        assert_eq!(long.matches("if").count(), 10_000);
    }

    #[test]
    fn nothing_in_code_becomes_an_element() {
        for language in ["rust", "js", "html", "python", "sh", "yaml", "css", "sql", "json"] {
            let code = "</span><script>alert(1)</script>\"<img src=x onerror='a'>\u{202e}/*<b>";
            let html = marked(language, code, &mut 100).unwrap();
            let bare = html.replace("</span>", "");
            let tags = bare.matches('<').count();
            assert_eq!(tags, bare.matches("<span class=\"c-").count(), "{html}");
            assert!(!html.contains('\u{202e}'));
        }
    }
}
