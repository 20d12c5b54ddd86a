//! Makes the Markdown of a session harmless. The result has no HTML and no image. Its links lead
//! only to the web or to a mail address.

use std::ops::Range;

use pulldown_cmark::{Event, LinkType, Options, Parser, Tag, TagEnd};

use crate::links;

/// Maximum number of rounds in which a text gets escapes. After a round the text is parsed again,
/// because an escape can change the meaning of what follows, for instance when it ends a link.
const ROUNDS: usize = 8;

/// The maximum length, in bytes, of a text that remains Markdown. A longer text becomes a code
/// block.
const LONGEST: usize = 1 << 20;

/// Adds escapes to a Markdown text until it is harmless. If that is not possible, returns the text
/// as a code block.
pub(super) fn inert(text: &str) -> String {
    let mut text = text.to_owned();
    for _ in 0..ROUNDS {
        if text.len() > LONGEST {
            break;
        }
        let escapes = escapes(&text);
        if escapes.is_empty() {
            return text;
        }
        for (at, escape) in escapes.into_iter().rev() {
            let width = usize::from(escape == LESS);
            text.replace_range(at..at + width, escape);
        }
    }
    // No Markdown at all is the last resort.
    super::fenced("", &text).trim_start().to_owned()
}

const LESS: &str = "&lt;";

/// Returns the byte offsets at which the text needs an escape, each with the escape, in ascending
/// order.
fn escapes(text: &str) -> Vec<(usize, &'static str)> {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut found = Vec::new();
    let mut less = |range: &Range<usize>| {
        let inside = text.get(range.clone()).unwrap_or_default();
        found.extend(inside.match_indices('<').map(|(at, _)| (range.start + at, LESS)));
    };
    let (mut others, mut is_code) = (Vec::new(), false);
    for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
        match event {
            Event::Start(Tag::CodeBlock(_)) => is_code = true,
            Event::End(TagEnd::CodeBlock) => is_code = false,
            Event::Html(_) | Event::InlineHtml(_) => less(&range),
            // What is no tag in CommonMark may be one in a lenient renderer.
            Event::Text(_) if !is_code => less(&range),
            // `\!` before `[...](...)` leaves a link.
            Event::Start(Tag::Image { .. }) => others.push((range.start, "\\")),
            Event::Start(Tag::Link { link_type, dest_url, .. }) => {
                let is_mail = link_type == LinkType::Email;
                if is_mail || links::is_allowed(&dest_url) {
                    continue;
                }
                match link_type {
                    LinkType::Autolink => less(&(range.start..range.start + 1)),
                    _ => others.push((range.start, "\\")),
                }
            }
            _ => {}
        }
    }
    found.extend(others);
    found.sort_unstable();
    found.dedup_by_key(|(at, _)| *at);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_more_than_text_is_escaped() {
        for (text, expected) in [
            ("a **b** `<i>` [c](https://c.org)", "a **b** `<i>` [c](https://c.org)"),
            ("<script>alert(1)</script>", "&lt;script>alert(1)&lt;/script>"),
            ("a <img src=x onerror=alert(1)> b", "a &lt;img src=x onerror=alert(1)> b"),
            ("[a](javascript:alert(1))", "\\[a](javascript:alert(1))"),
            ("![a](https://a.org/b.png)", "\\![a](https://a.org/b.png)"),
            ("<javascript:alert(1)>", "&lt;javascript:alert(1)>"),
            ("[a]\n\n[a]: data:text/html,x", "\\[a]\n\n[a]: data:text/html,x"),
            ("<!-- never closed", "&lt;!-- never closed"),
            ("a < b <b c==d>", "a &lt; b &lt;b c==d>"),
            ("```\n<b>\n```", "```\n<b>\n```"),
            ("<https://a.org> <a@b.org>", "<https://a.org> <a@b.org>"),
        ] {
            assert_eq!(inert(text), expected);
        }
    }
}
