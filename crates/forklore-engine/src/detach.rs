//! `detach`: gives a session its own copy of the prefix that it inherits.

use forklore_api::Detached;
use forklore_core::SessionId;
use forklore_core::operation::OperationKind;
use forklore_store::port::{Change, Write};

use crate::{Engine, Result};

impl Engine {
    /// Copies the history that a session inherits into the session's own stored events. Afterwards
    /// every read of the session returns the same as before, and its ancestors may be deleted
    /// (docs/semantics.md, Delete, detach).
    ///
    /// # Errors
    /// `not_found` if the session does not exist or was deleted, `missing_ancestor` if inherited
    /// events are missing.
    pub fn detach(&self, session: &SessionId) -> Result<Detached> {
        let write = Write::Change { session: session.clone(), change: Change::Detach };
        let changed =
            self.store.commit(self.recorded(OperationKind::Detach, vec![write]))?.changed()?;
        Ok(Detached { session_id: changed.header.id, copied_events: changed.copied_events })
    }
}
