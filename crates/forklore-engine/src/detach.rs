//! `detach`: gives a session its own copy of the prefix it inherits.

use forklore_api::Detached;
use forklore_core::SessionId;
use forklore_store::port::Change;

use crate::{Engine, Result};

impl Engine {
    /// Copies the prefix that a session inherits into the session's own segment. Every read of the
    /// session then returns the same answer as before, but its ancestors may be deleted
    /// (docs/semantics.md, Delete, detach).
    ///
    /// # Errors
    /// `not_found`, `missing_ancestor`.
    pub fn detach(&self, session: &SessionId) -> Result<Detached> {
        let changed = self.store.change(session, &Change::Detach)?;
        Ok(Detached { session_id: changed.header.id, copied_events: changed.copied_events })
    }
}
