//! A session as one page to read and to show others: HTML or Markdown.
//!
//! The page contains the conversation: who wrote what and in which branch, the tool calls with their
//! results and the changes that they made, the model's thinking, images, and where a compaction
//! replaced a part. Calls, results and thinking are folded.
//!
//! [`write`](fn@write) reads the session piece by piece, so a long one needs little memory.
//!
//! Text of a session is hostile. In a page of HTML all of it is escaped, its Markdown produces no
//! HTML of its own and links only to the web or to a mail address, and the page has no script and
//! requests nothing. A content security policy in the page forbids both as well. In a page of
//! Markdown, the same text is inert when a renderer allows HTML.

mod conversation;
mod html;
mod links;
mod markdown;

use std::io::Write;

use forklore_api::{Exported, ReplayRange};
use forklore_core::{Header, Selector, SessionId};
use forklore_engine::{Engine, Error, Result};

use conversation::{Conversation, Item};

/// The format of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// One self-contained file of HTML.
    Html,
    /// Markdown, as GitHub and GitLab show it.
    Markdown,
}

impl Format {
    /// The names of all formats, with which exports name them.
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

/// Writes the conversation of a session as a page, up to the cut `at`, or whole without a cut.
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

/// What the head of a page says about the session.
struct Facts {
    title: String,
    /// The branch, the agent and the times, each with its name.
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
