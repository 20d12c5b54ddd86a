//! Checks whether the last turn of a session was interrupted, for instance by a killed process.

use forklore_core::{EventType, Header, OpenCall, SessionId};
use forklore_store::port::{At, Direction, LogEntry, Query};

use crate::{Engine, Result};

impl Engine {
    /// Returns the open tool calls of the last turn if that turn is not complete, because it was
    /// interrupted, failed or still runs. The list is empty if no call is open. Returns `None` if
    /// the session has no conversation event, or if the last turn is complete: the last
    /// conversation event is an assistant message and no call is open.
    ///
    /// # Errors
    /// `not_found` if the session does not exist or was deleted, `corrupt` if stored data is
    /// damaged, `missing_ancestor` if inherited events are missing.
    pub fn interrupted_turn(&self, session: &SessionId) -> Result<Option<Vec<OpenCall>>> {
        let header = self.show(session)?;
        let Some(last) = self.last_message(&header, true)? else { return Ok(None) };
        if last.event.kind == EventType::ASSISTANT_MESSAGE && last.counts.open == 0 {
            return Ok(None);
        }
        let end = self.cut(&header, &forklore_core::Selector::End)?;
        Ok(Some(self.open_calls(&header, &end)?.calls().cloned().collect()))
    }

    /// Checks whether the last conversation event is an incomplete answer: an assistant message
    /// marked `partial`. The caller may then request the rest of the answer. Unlike an interrupted
    /// turn, such an answer ends its turn.
    ///
    /// # Errors
    /// `not_found` if the session does not exist or was deleted, `corrupt` if stored data is
    /// damaged, `missing_ancestor` if inherited events are missing.
    pub fn is_cut_short(&self, session: &SessionId) -> Result<bool> {
        let last = self.last_message(&self.show(session)?, false)?;
        Ok(last.is_some_and(|last| last.event.is_partial()))
    }

    fn last_message(&self, header: &Header, bare: bool) -> Result<Option<LogEntry>> {
        let Some(last) = header.counts.index.checked_sub(1) else { return Ok(None) };
        let query = Query { at: At::Index(last), direction: Direction::Forward, limit: 1, bare };
        Ok(self.store().read(&header.id, &query)?.events.pop())
    }
}
