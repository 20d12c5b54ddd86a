//! Finds the sessions that a user names.

use std::path::Path;

use forklore_core::{ErrorKind, Header};

use super::Chat;
use crate::{Error, Result};

/// The maximum number of branches that an error lists.
const LISTED: usize = 12;

impl Chat<'_> {
    /// Finds a session by its label, its id, its title or `last`; see
    /// [`Conversation::find`](forklore_host::Conversation::find). A word that contains a slash is
    /// the path of a session file, which is imported first.
    ///
    /// # Errors
    /// When no session or file matches, or several sessions match. If no session matches, the error
    /// lists the branches of this family.
    pub(crate) fn find(&mut self, word: &str) -> Result<Header> {
        if is_path(word) {
            let session = self.views.open_file(Path::new(word)).map_err(Error::invalid)?;
            return Ok(self.engine().show(&session)?);
        }
        let found = self.foreground.block_on(self.conversation.find(word));
        found.map_err(|error| match error.kind() {
            ErrorKind::NotFound => Error::invalid(format!("{error}\n{}", self.there_is())),
            _ => error.into(),
        })
    }

    /// Describes which sessions the user can name.
    pub(crate) fn there_is(&self) -> String {
        let labels = self.labels();
        let rest = "/history lists the conversations of this folder";
        if labels.is_empty() {
            return rest.to_owned();
        }
        let shown = labels.iter().take(LISTED).map(|label| format!("@{label}"));
        let shown = shown.collect::<Vec<_>>().join(", ");
        let more = match labels.len().saturating_sub(LISTED) {
            0 => String::new(),
            more => format!(" and {more} more (/branches)"),
        };
        format!("there is {shown}{more}; {rest}")
    }

    /// Returns the labels of the current session's family. Returns none if the session is not
    /// stored yet.
    fn labels(&self) -> Vec<String> {
        let Ok(here) = self.header() else { return Vec::new() };
        let branches = self.engine().branches(&here.id).map(|family| family.branches);
        branches.unwrap_or_default().iter().map(|branch| branch.label.to_string()).collect()
    }
}

/// Checks whether a word is the path of a session file. No other reference contains a separator.
pub(crate) fn is_path(word: &str) -> bool {
    word.contains(['/', '\\'])
}
