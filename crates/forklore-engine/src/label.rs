//! `label`: renames a branch within its family.

use forklore_core::{Header, Label, SessionId};
use forklore_store::port::{Change, Filter};

use crate::{Engine, Error, Result};

impl Engine {
    /// Renames a session: replaces its label.
    ///
    /// # Errors
    /// `already_exists` if another session of the family has the label; `invalid_args` for a root,
    /// whose label is always `main`.
    pub fn label(&self, session: &SessionId, label: &Label) -> Result<Header> {
        let header = self.show(session)?;
        if header.parent_id.is_none() && *label != Label::main() {
            return Err(Error::invalid("label", "a root's label is main and stays so"));
        }
        Ok(self.store.change(session, &Change::Label(label.clone()))?.header)
    }

    /// Returns the session that has this label in the family of `header` (all sessions with one
    /// root). Returns `None` if no session has the label.
    pub(crate) fn label_owner(&self, header: &Header, label: &Label) -> Result<Option<SessionId>> {
        let filter = Filter {
            family: Some(header.root_id.clone()),
            label: Some(label.clone()),
            ..Filter::default()
        };
        // This search does not find an owner whose header is damaged. The store itself refuses a
        // label that is in use, so the label stays unique.
        Ok(self.store.sessions(&filter, None, 1)?.sound.pop().map(|owner| owner.id))
    }
}
