//! Whether the last turn of a session was broken off, by a killed process for instance.

use forklore_model::{EventType, OpenCall, SessionId};
use forklore_store::port::At;

use crate::{Engine, Result};

impl Engine {
    /// The calls without a result of a turn that was broken off; none when the last turn is over:
    /// the model has the last word, and no call of it waits.
    ///
    /// # Errors
    /// `not_found`, `corrupt`, `missing_ancestor`.
    pub fn broken_off(&self, session: &SessionId) -> Result<Option<Vec<OpenCall>>> {
        let header = self.show(session)?;
        let Some(last) = header.counts.index.checked_sub(1) else { return Ok(None) };
        let last = self.event_at(session, At::Index(last))?;
        let answered = |event: &forklore_store::port::Stored| {
            event.event.kind == EventType::ASSISTANT_MESSAGE && event.counts.open == 0
        };
        if last.as_ref().is_some_and(answered) {
            return Ok(None);
        }
        let end = self.cut(&header, &forklore_model::Selector::End)?;
        Ok(Some(self.open_calls(&header, &end)?.calls().to_vec()))
    }
}
