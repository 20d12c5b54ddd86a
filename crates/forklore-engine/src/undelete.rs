//! `undelete`: brings sessions back from the trash.

use std::collections::HashSet;

use forklore_api::{Undelete, Undeleted, UndeletedSession};
use forklore_core::operation::OperationKind;
use forklore_core::{Header, Label};
use forklore_store::Error as StoreError;
use forklore_store::port::{Change, Filter, Write};

use crate::{Engine, Result};

/// Maximum number of attempts of an undelete. Another attempt is necessary if another writer has
/// taken a label in the meantime.
const TRIES: usize = 8;

impl Engine {
    /// Brings a session back from the trash. Also brings back its delegates that the same delete
    /// removed or, with `cascade`, all sessions that the same delete removed. A session whose label
    /// is in use gets a new default label. If the session was not deleted, changes nothing.
    ///
    /// # Errors
    /// `not_found` if the session does not exist or was erased. After an error, no session came
    /// back.
    pub fn undelete(&self, request: &Undelete) -> Result<Undeleted> {
        let mut tries = TRIES;
        loop {
            let header = self.store.header(&request.session)?;
            if header.deleted.is_none() {
                return Ok(Undeleted { undeleted: Vec::new() });
            }
            if !header.is_in_trash() {
                return Err(StoreError::Deleted(header.id).into());
            }
            let undeleted = self.with_labels(self.deleted_together(&header, request.cascade)?)?;
            let writes: Vec<_> = undeleted
                .iter()
                .map(|one| Write::Change {
                    session: one.session_id.clone(),
                    change: Change::Undelete(one.label.clone()),
                })
                .collect();
            tries -= 1;
            match self.store.commit(self.recorded(OperationKind::Undelete, writes)) {
                Ok(_) => {
                    let (session, sessions) = (&request.session, undeleted.len());
                    tracing::info!(%session, sessions, "brought deleted sessions back");
                    return Ok(Undeleted { undeleted });
                }
                Err(StoreError::LabelInUse { .. }) if tries > 0 => {}
                Err(refused) => return Err(refused.into()),
            }
        }
    }

    /// Gives each of the sessions of one family its former label. If another session uses that
    /// label now, gives the session a new default label.
    pub(crate) fn with_labels(&self, sessions: Vec<Header>) -> Result<Vec<UndeletedSession>> {
        let family = sessions.first().map(|header| header.root_id.clone());
        let filter = Filter { family, ..Filter::default() };
        let living = self.store.sessions(&filter, None, 0)?.sound;
        let mut in_use: HashSet<Label> = living.into_iter().map(|header| header.label).collect();
        let labelled = sessions.into_iter().map(|header| {
            let defaults = (0..).map(|n| Label::of_child(header.kind, &header.id, n));
            let mut labels = std::iter::once(header.label.clone()).chain(defaults);
            let label = labels.find(|label| !in_use.contains(label));
            let label = label.unwrap_or_else(|| header.label.clone());
            in_use.insert(label.clone());
            let former_label = (label != header.label).then_some(header.label);
            UndeletedSession { session_id: header.id, label, former_label }
        });
        Ok(labelled.collect())
    }
}
