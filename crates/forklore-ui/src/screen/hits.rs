//! The hits of a search in all sessions.

use forklore_core::workspace::Workspace;

use crate::cursor::Cursor;
use crate::keys::Command;
use crate::model::Found;
use crate::request::{Answer, Request};
use crate::safe::Safe;

/// The number of lines of a hit: where it is, and the text around it.
pub(crate) const HEIGHT: usize = 2;

/// The hits of a search.
#[derive(Clone, Debug)]
pub(crate) struct Hits {
    words: String,
    workspace: Option<Workspace>,
    hits: Vec<Found>,
    more: bool,
    cursor: Cursor,
    is_sent: bool,
    /// A message that is shown instead of the hits: the progress, that nothing was found, or why
    /// the search failed. `None` once the hits are shown.
    state: Option<Safe>,
}

impl Hits {
    pub(crate) fn of(words: String, workspace: Option<Workspace>) -> Self {
        let state = Some(Safe::line("searching ..."));
        let (hits, cursor) = (Vec::new(), Cursor::default());
        Self { words, workspace, hits, more: false, cursor, is_sent: false, state }
    }

    pub(crate) fn words(&self) -> &str {
        &self.words
    }

    pub(crate) fn state(&self) -> Option<&Safe> {
        self.state.as_ref()
    }

    /// Checks whether the sessions of all folders are searched.
    pub(crate) fn is_everywhere(&self) -> bool {
        self.workspace.is_none()
    }

    /// Returns the number of hits, and whether there are more.
    pub(crate) fn count(&self) -> (usize, bool) {
        (self.hits.len(), self.more)
    }

    pub(crate) fn current(&self) -> Option<&Found> {
        self.hits.get(self.cursor.at)
    }

    pub(crate) fn visible(&self, height: usize) -> impl Iterator<Item = (&Found, bool)> {
        let range = self.cursor.visible(self.hits.len(), shown(height));
        let hits = self.hits.iter().enumerate().skip(range.start).take(range.len());
        hits.map(|(at, hit)| (hit, at == self.cursor.at))
    }

    pub(crate) fn motion(&mut self, command: Command, height: usize) -> bool {
        self.cursor.motion(command, self.hits.len(), shown(height))
    }

    pub(crate) fn wheel(&mut self, rows: isize, height: usize) {
        self.cursor.wheel(rows.signum(), self.hits.len(), shown(height));
    }

    pub(crate) fn click(&mut self, row: usize, height: usize) -> bool {
        let (before, at) = (self.cursor.at, self.cursor.top + row / HEIGHT);
        if at < self.hits.len() {
            self.cursor.go_to(at, self.hits.len(), shown(height));
        }
        before == at
    }

    pub(crate) fn resize(&mut self, height: usize) {
        self.cursor.settle(self.hits.len(), shown(height));
    }

    pub(crate) fn wants(&mut self) -> Option<Request> {
        if std::mem::replace(&mut self.is_sent, true) {
            return None;
        }
        Some(Request::Search { words: self.words.clone(), workspace: self.workspace.clone() })
    }

    pub(crate) fn receive(&mut self, answer: &Answer) {
        match answer {
            Answer::Search { hits, more, .. } => {
                self.hits.clone_from(hits);
                self.more = *more;
                self.state = hits.is_empty().then(|| Safe::line("nothing found"));
            }
            Answer::Progress(text) => self.state = Some(text.clone()),
            Answer::Failed(failed) => self.state = Some(failed.message.clone()),
            _ => {}
        }
    }
}

fn shown(height: usize) -> usize {
    (height / HEIGHT).max(1)
}
