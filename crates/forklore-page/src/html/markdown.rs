//! Converts Markdown of a session to HTML. HTML in the text is shown as text. Links lead only to
//! the web or to a mail address.

use forklore_sanitize::{html, terminal};
use pulldown_cmark::{
    Alignment, CodeBlockKind, CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd,
};

use super::code;
use crate::links;

/// The maximum length, in bytes, of a text that is formatted as Markdown. A longer text is shown
/// without formatting.
const LONGEST: usize = 1 << 20;

/// Converts Markdown to HTML that is safe to put into a page. HTML in the text is shown as text, and
/// links lead only to the web or to a mail address.
#[must_use]
pub fn html(markdown: &str) -> String {
    if markdown.len() > LONGEST {
        return format!("<pre>{}</pre>", html::text(markdown));
    }
    let markdown = terminal::block(markdown);
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut links = Links::default();
    let (mut headings, mut fence) =
        (Headings::default(), Fence { open: None, left: code::MOST_MARKS });
    let events = Parser::new_ext(&markdown, options);
    let events = events.filter_map(|event| fence.next(event));
    let events = events.filter_map(|piece| match piece {
        Marked::Code(html) => Some(Event::Html(html.into())),
        Marked::Other(event) => safe(event, &mut links, &mut headings),
    });
    let mut out = String::with_capacity(markdown.len() * 3 / 2);
    pulldown_cmark::html::push_html(&mut out, events);
    out
}

/// The fenced code at the current position in the Markdown.
struct Fence<'a> {
    /// The language, and the code up to the position. `None` outside of code, and in code whose
    /// language is not known.
    open: Option<(CowStr<'a>, String)>,
    /// The number of marks that may follow.
    left: usize,
}

impl<'a> Fence<'a> {
    /// Converts code to code with marks. Leaves all else as it is. Returns `None` if the code goes
    /// on.
    fn next(&mut self, event: Event<'a>) -> Option<Marked<'a>> {
        match (event, &mut self.open) {
            (Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(language))), fence)
                if code::has_marks(&language) =>
            {
                *fence = Some((language, String::new()));
                None
            }
            (Event::Text(text), Some((_, code))) => {
                code.push_str(&text);
                None
            }
            (Event::End(TagEnd::CodeBlock), Some((language, code))) => {
                let code = code::marked(language, code, &mut self.left).unwrap_or_default();
                self.open = None;
                Some(Marked::Code(format!("<pre><code>{code}</code></pre>\n")))
            }
            (event, _) => Some(Marked::Other(event)),
        }
    }
}

/// A piece of Markdown, or code with marks as HTML.
enum Marked<'a> {
    Code(String),
    Other(Event<'a>),
}

/// The links and images that are open at the current position in the Markdown, innermost last. Each
/// value states whether the HTML has a link in its place.
#[derive(Default)]
struct Links(Vec<bool>);

impl Links {
    fn open<'a>(&mut self, url: &str) -> Option<Event<'a>> {
        // HTML allows no link in a link.
        let is_link = links::is_allowed(url) && !self.0.contains(&true);
        self.0.push(is_link);
        is_link.then(|| {
            let url = html::text(url);
            let tag = format!("<a rel=\"noopener noreferrer nofollow\" href=\"{url}\">");
            Event::InlineHtml(tag.into())
        })
    }

    fn close<'a>(&mut self) -> Option<Event<'a>> {
        self.0.pop().filter(|is_link| *is_link).map(|_| Event::InlineHtml(CowStr::Borrowed("</a>")))
    }
}

/// Converts a parsed piece of Markdown to a safe one. Returns `None` if the page omits the piece.
/// An image becomes a link to it, because the page loads nothing from a server.
fn safe<'a>(event: Event<'a>, links: &mut Links, headings: &mut Headings) -> Option<Event<'a>> {
    match event {
        Event::Html(text) | Event::InlineHtml(text) => Some(Event::Text(text)),
        Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
            links.open(&dest_url)
        }
        Event::End(TagEnd::Link | TagEnd::Image) => links.close(),
        // The block of HTML is a paragraph of text.
        Event::Start(Tag::HtmlBlock) => Some(Event::Start(Tag::Paragraph)),
        Event::End(TagEnd::HtmlBlock) => Some(Event::End(TagEnd::Paragraph)),
        Event::Start(Tag::Heading { level, .. }) => Some(Event::Start(Tag::Heading {
            level: headings.open(level),
            id: None,
            classes: Vec::new(),
            attrs: Vec::new(),
        })),
        Event::End(TagEnd::Heading(_)) => Some(Event::End(TagEnd::Heading(headings.level()))),
        // The alignment of a column would be a style attribute, which content policies forbid.
        Event::Start(Tag::Table(columns)) => {
            Some(Event::Start(Tag::Table(vec![Alignment::None; columns.len()])))
        }
        other => Some(other),
    }
}

/// The headings that contain the current position in a message, outermost first. A heading's level in
/// the page follows from the number of headings around it. It is below the level of the page's own
/// headings, so that no text of a session looks like them, and no level is left out.
#[derive(Default)]
struct Headings(Vec<HeadingLevel>);

impl Headings {
    fn open(&mut self, level: HeadingLevel) -> HeadingLevel {
        self.0.retain(|outer| *outer < level);
        self.0.push(level);
        self.level()
    }

    fn level(&self) -> HeadingLevel {
        match self.0.len() {
            ..=1 => HeadingLevel::H4,
            2 => HeadingLevel::H5,
            _ => HeadingLevel::H6,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_leave_out_no_level() {
        let levels = |markdown: &str| {
            let html = html(markdown);
            let begins = html.match_indices("<h").map(|(at, _)| html[at + 2..at + 3].to_owned());
            begins.collect::<String>()
        };
        assert_eq!(levels("# a\n## b\n# c\n### d\n### e\n#### f"), "454556");
        assert_eq!(levels("### a\n# b"), "44");
    }

    #[test]
    fn tables_have_no_style() {
        let table = html("| a | b |\n| :-: | --: |\n| c | d |");
        assert!(table.contains("<th>a</th>") && table.contains("<td>d</td>"), "{table}");
    }
}
