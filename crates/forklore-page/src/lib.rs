//! Writes a session as one page for people to read, in HTML or Markdown.
//!
//! The page contains the conversation: who wrote what and in which branch, the tool calls with
//! their results and the changes that they made, the model's thinking, images, and the summaries of
//! compactions and branches. A reader must unfold calls, results and thinking to see them whole.
//!
//! [`write`](fn@write) reads the session piece by piece, so a long one needs little memory.
//! [`Block`] and [`Blocks`] are the parts of a page, for other programs that show sessions in HTML.
//!
//! Text of a session may be hostile. An HTML page escapes all text. The Markdown in a text produces
//! only harmless HTML, and links only to the web or to a mail address. The page has no script and
//! loads nothing from a server, and its content security policy forbids both. A Markdown page is
//! equally harmless, even if its renderer allows HTML.

mod block;
mod conversation;
mod html;
mod links;
mod markdown;

use std::io::Write;

use forklore_api::{Exported, ReplayRange};
use forklore_core::{Header, Selector, SessionId};
use forklore_engine::{Engine, Error, Result};

use conversation::{Conversation, Item};

pub use block::{Block, Call, Source, ToolOutput};
pub use html::{Blocks, Images, markdown as markdown_html, shown_type};

/// The format of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// HTML: one file that needs no other files.
    Html,
    /// Markdown, in the form that GitHub and GitLab show.
    Markdown,
}

impl Format {
    /// The names of all page formats, as an export request names them.
    pub const NAMES: [&str; 2] = ["html", "markdown"];

    /// Returns the format with this name; `None` if there is none.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "html" => Some(Self::Html),
            "markdown" => Some(Self::Markdown),
            _ => None,
        }
    }
}

/// Writes the conversation of a session as a page, up to the cut `at`. `None` writes the whole
/// conversation.
///
/// # Errors
/// `not_found` if the session does not exist or was deleted, `invalid_args` if it has no such cut,
/// `corrupt` if stored data is damaged, `missing_ancestor` if inherited events are missing, or the
/// error of writing to `out`.
pub fn write(
    engine: &Engine,
    session: &SessionId,
    format: Format,
    at: Option<&Selector>,
    out: &mut dyn Write,
) -> Result<Exported> {
    let header = engine.show(session)?;
    let range = ReplayRange { up_to: at.cloned(), ..ReplayRange::default() };
    let replayed = engine.replay_range(session, &range)?.with_summaries();
    let items = Conversation::new(&header, replayed);
    let facts = Facts::of(engine, &header)?;
    let mut events = 0;
    let mut put = |text: &str| {
        out.write_all(text.as_bytes()).map_err(|source| Error::io("writing the page", source))
    };
    let mut html = html::Page::new(engine);
    let mut markdown = markdown::Page::default();
    put(&match format {
        Format::Html => html::head(&facts),
        Format::Markdown => markdown::head(&facts),
    })?;
    for item in items {
        let item = item?;
        events += item_records(&item);
        put(&match format {
            Format::Html => html.item(&item),
            Format::Markdown => markdown.item(&item),
        })?;
    }
    if format == Format::Html {
        put(html::TAIL)?;
    }
    Ok(Exported { events, lossy: Vec::new() })
}

fn item_records(item: &Item) -> u64 {
    if let Item::Message(message) = item { message.records } else { 0 }
}

/// The facts about a session that the head of its page shows.
struct Facts {
    title: String,
    /// The label, the agent, the time of creation and the number of turns, each after its name.
    lines: Vec<(&'static str, String)>,
}

impl Facts {
    fn of(engine: &Engine, header: &Header) -> Result<Self> {
        let title = match header.title.clone().filter(|title| !title.trim().is_empty()) {
            Some(title) => Some(title),
            None => engine.first_words(header)?,
        };
        let title = title.unwrap_or_else(|| header.label.to_string());
        let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
        let title = forklore_core::summary::beginning(&title, 120).to_owned();
        let mut lines = vec![("branch", header.label.to_string())];
        lines.extend(header.dialect.clone().map(|agent| ("agent", agent)));
        lines.push(("begun", time(header.created)));
        lines.push(("turns", header.counts.turns.to_string()));
        Ok(Self { title, lines })
    }
}

fn time(at: jiff::Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M:%S UTC").to_string()
}
