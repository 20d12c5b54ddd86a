//! `label`: another name for a branch in its family (SPEC 6).

use forklore_core::{Header, Label, SessionId};
use forklore_store::port::{Change, Filter};

use crate::{Engine, Error, Result};

impl Engine {
    /// Gives a session another label (SPEC 6).
    ///
    /// # Errors
    /// `already_exists` when another session of the family has it, `invalid_args` for a root.
    pub fn label(&self, session: &SessionId, label: &Label) -> Result<Header> {
        let header = self.show(session)?;
        if header.parent_id.is_none() && *label != Label::main() {
            return Err(Error::invalid("label", "a root's label is main and stays so"));
        }
        Ok(self.store.change(session, &Change::Label(label.clone()))?.header)
    }

    /// Who has `label` in the family of `header`.
    pub(crate) fn label_owner(&self, header: &Header, label: &Label) -> Result<Option<SessionId>> {
        let filter = Filter {
            family: Some(header.root_id.clone()),
            label: Some(label.clone()),
            ..Filter::default()
        };
        // A damaged header may be the owner's: the store itself refuses a label that is taken.
        Ok(self.store.sessions(&filter, None, 1)?.sound.pop().map(|owner| owner.id))
    }
}
