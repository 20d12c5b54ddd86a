//! `detach`: a prefix of one's own (SPEC 10).

use forklore_core::SessionId;
use forklore_store::port::Change;
use serde::Serialize;

use crate::{Engine, Result};

/// What a detach came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Detached {
    /// The session.
    pub session_id: SessionId,
    /// How many events were copied; none the second time.
    pub copied_events: u64,
}

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
