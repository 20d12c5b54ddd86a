//! Changes a session's header or how it is stored.

use forklore_core::{Label, SessionId};
use forklore_store::feed::What;
use forklore_store::port::{Change, Changed};
use forklore_store::rules::{self, release_lease, take_lease};

use super::Attempt;
use super::copy::copy;
use crate::fault::Result;
use crate::history::History;

impl Attempt<'_> {
    pub(super) fn change(&mut self, id: &SessionId, change: &Change) -> Result<Changed> {
        match change {
            Change::Undelete(label) => return self.undelete(id, label),
            Change::Detach => return self.detach(id),
            Change::Label(label) => return self.label(id, label),
            _ => {}
        }
        let mut session = self.living(id)?;
        let header = &mut session.header;
        match change {
            Change::Title(title) => header.title.clone_from(title),
            Change::Leaf(leaf) => header.leaf.clone_from(leaf),
            Change::CopyOf(copy_of) => header.copy_of.clone_from(copy_of),
            Change::Hold { owner, lasts } => {
                header.lease = Some(take_lease(header, owner, *lasts, self.now)?);
            }
            Change::Release { owner } => header.lease = release_lease(header, owner)?,
            Change::Label(_) | Change::Detach | Change::Undelete(_) => {}
        }
        let header = session.header.clone();
        self.put(session, What::Changed);
        Ok(Changed { header, copied_events: 0 })
    }

    fn label(&mut self, id: &SessionId, label: &Label) -> Result<Changed> {
        let mut session = self.living(id)?;
        self.flush()?;
        self.check_label(&session.header.root_id, label, id)?;
        session.header.label = label.clone();
        let header = session.header.clone();
        self.put(session, What::Changed);
        // Two sessions may exchange their labels in several steps, each of which must be free.
        self.flush()?;
        Ok(Changed { header, copied_events: 0 })
    }

    fn detach(&mut self, id: &SessionId) -> Result<Changed> {
        let session = self.living(id)?;
        let mut copied_events = 0;
        let (mut after, inheritable) = (session.clone(), session.header.inherited.inheritable);
        if !session.origin.owned && inheritable > 0 {
            self.flush()?;
            let history = History::of(self.database, session)?;
            copied_events = copy(self.database, &history, inheritable, id.as_str())?;
            after.origin.owned = true;
        }
        after.header.detached = true;
        let header = after.header.clone();
        self.put(after, What::Changed);
        Ok(Changed { header, copied_events })
    }

    fn undelete(&mut self, id: &SessionId, label: &Label) -> Result<Changed> {
        let mut session = self.any(id)?;
        if rules::undelete(&mut session.header, label)? {
            self.flush()?;
            self.check_label(&session.header.root_id, label, id)?;
        }
        let header = session.header.clone();
        // All its events are new for a reader to whom it was removed.
        self.put(session, What::Created);
        self.flush()?;
        Ok(Changed { header, copied_events: 0 })
    }
}
