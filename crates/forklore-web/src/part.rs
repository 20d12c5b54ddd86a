//! Parts of the pages, from which another crate makes a page of its own.

use forklore_core::SessionId;
use maud::{Markup, html};

use crate::params::Params;
use crate::shell::Shell;
use crate::shown::{Block, Line};
use crate::{Pages, reader};

pub use crate::answer::Problem;

/// The frame of a page.
#[derive(Clone, Copy, Debug, Default)]
pub struct Frame<'a> {
    /// The title, which may be text of a session.
    pub title: &'a str,
    /// The stream of events after which the page reads its fragment again. Empty if there is none.
    pub live: &'a str,
    /// The addresses of further scripts, which are modules.
    pub scripts: &'a [&'a str],
    /// The addresses of further style sheets.
    pub styles: &'a [&'a str],
}

impl Frame<'_> {
    /// Puts the content of a page into the frame.
    #[must_use]
    pub fn page(&self, content: &Markup) -> Markup {
        let Self { title, live, scripts, styles } = *self;
        Shell { title, live, scripts, styles, ..Shell::default() }.page(content)
    }
}

/// The last part of a session's conversation.
pub struct Conversation {
    /// The name of the session, which may be text of a session.
    pub name: String,
    /// Facts about the session: its label, agent, folder and size.
    pub facts: Markup,
    /// The last entries, as a section that the scripts of the frame read again.
    pub entries: Markup,
}

/// Reads the last part of a session's conversation. The thread may block.
///
/// # Errors
/// A page that says why the session cannot be read.
pub fn conversation(pages: &Pages, session: &SessionId) -> Result<Conversation, Problem> {
    let params = Params::from(vec![("at".to_owned(), "end".to_owned())]);
    reader::last_part(pages, session, &params)
}

/// Shows text of a session in one line, escaped.
#[must_use]
pub fn line(text: &str) -> Markup {
    html! { (Line(text)) }
}

/// Shows text of a session with its line breaks, escaped.
#[must_use]
pub fn block(text: &str) -> Markup {
    html! { (Block(text)) }
}

/// Encodes text as a value in the query of an address.
#[must_use]
pub fn encoded(text: &str) -> String {
    crate::shown::encoded(text)
}
