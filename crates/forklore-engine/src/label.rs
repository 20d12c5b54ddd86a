//! `label`: gives a session another label within its family.

use forklore_core::operation::OperationKind;
use forklore_core::{Header, Label, SessionId};
use forklore_store::port::{Change, Filter, Write};

use crate::{Engine, Result};

impl Engine {
    /// Replaces the label of a session.
    ///
    /// # Errors
    /// `already_exists` if another session of the family has the label.
    pub fn label(&self, session: &SessionId, label: &Label) -> Result<Header> {
        let change = Change::Label(label.clone());
        let write = Write::Change { session: session.clone(), change };
        Ok(self.store.commit(self.recorded(OperationKind::Label, vec![write]))?.changed()?.header)
    }

    /// Returns the session that has this label in the family of `header` (all sessions with one
    /// root). Returns `None` if no session with a readable header has the label.
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
