//! Resolves a reference that is the title of a session, or the beginning of one.

use forklore_core::Header;
use forklore_core::workspace::Workspace;
use forklore_store::port::{Cursor, Filter, Headers};

use super::{Scope, only, only_elsewhere};
use crate::{Engine, Error, Result};

/// The minimum length, in characters, of a text that is looked up as the beginning of a title.
const SHORTEST: usize = 3;
/// Number of headers that one step of the search reads.
const PAGE: usize = 1_000;

/// A title or the beginning of a title to look for, folded to lower case.
struct Title(String);

impl Title {
    fn fits(&self, header: &Header) -> Option<Fit> {
        let title = header.title.as_ref()?.trim().to_lowercase();
        if title == self.0 {
            return Some(Fit::Whole);
        }
        let begins = self.0.chars().count() >= SHORTEST && title.starts_with(&self.0);
        begins.then_some(Fit::Beginning)
    }
}

/// How a title matches a reference: as a whole, or with its beginning. Whole matches are preferred.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fit {
    Whole,
    Beginning,
}

impl Engine {
    /// Returns the session whose title is `text` or begins with it. Searches the workspace of
    /// `scope`, then the others.
    pub(super) fn by_title(&self, text: &str, scope: &Scope) -> Result<Header> {
        let title = &Title(text.to_lowercase());
        let what = format!("the title {text:?}");
        let found = self.titled(title, scope.workspace.as_ref())?;
        match found.len() {
            0 if scope.workspace.is_some() => {
                let others = self.titled(title, None)?;
                only_elsewhere(&what, others)?.ok_or(Error::NoMatch { what })
            }
            0 => Err(Error::NoMatch { what }),
            _ => only(Headers { sound: found, damaged: Vec::new() }, &what),
        }
    }

    /// Returns the sessions with exactly this title. If there are none, returns the sessions whose
    /// title begins with it.
    fn titled(&self, title: &Title, workspace: Option<&Workspace>) -> Result<Vec<Header>> {
        let title_prefix = Some(title.0.clone());
        let filter = Filter { workspace: workspace.cloned(), title_prefix, ..Filter::default() };
        let (mut whole, mut beginning) = (Vec::new(), Vec::new());
        let mut after = None;
        loop {
            let page = self.store.sessions(&filter, after.as_ref(), PAGE)?.sound;
            after = page.last().map(Cursor::behind);
            for header in page {
                match title.fits(&header) {
                    Some(Fit::Whole) => whole.push(header),
                    Some(Fit::Beginning) => beginning.push(header),
                    None => {}
                }
            }
            if after.is_none() {
                break;
            }
        }
        Ok(if whole.is_empty() { beginning } else { whole })
    }
}
