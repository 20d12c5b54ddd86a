//! `detach`: a prefix of one's own (SPEC 10).

use forklore_api::Detached;
use forklore_core::SessionId;
use forklore_store::port::Change;

use crate::{Engine, Result};

impl Engine {
    /// Copies the assembled prefix of a session into a segment of its own. Everything that can be
    /// read stays the same; its ancestors may then be deleted (SPEC 10).
    ///
    /// # Errors
    /// `not_found`, `missing_ancestor`.
    pub fn detach(&self, session: &SessionId) -> Result<Detached> {
        let changed = self.store.change(session, &Change::Detach)?;
        Ok(Detached { session_id: changed.header.id, copied_events: changed.copied_events })
    }
}
