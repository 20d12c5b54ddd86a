//! Finds what a person typed first in a session. These words describe a session that has no title.

use forklore_core::typed::{Typed, typed};
use forklore_core::{EventType, Header};
use forklore_store::port::At;

use crate::{Engine, Result};

/// Maximum number of events that one search for the first words of a session reads.
const LOOKED_AT: usize = 200;

impl Engine {
    /// Returns what a person typed first in the part of the log that the session wrote itself. If
    /// there is nothing, returns what a person typed first in the inherited history. Text that an
    /// agent added to what was typed is left out, and so are messages that begin no turn, except
    /// for commands. A command for the agent (`/clear`) is returned only if nothing else was typed.
    /// Each of the two searches reads at most 200 events.
    ///
    /// # Errors
    /// `corrupt` if stored data is damaged, `missing_ancestor` if inherited events are missing.
    pub fn first_words(&self, header: &Header) -> Result<Option<String>> {
        let own = header.seq_of_own(u64::from(header.parent_id.is_some()));
        match self.first_text_from(header, own)? {
            None if header.inherited.inheritable > 0 => self.first_text_from(header, 0),
            text => Ok(text),
        }
    }

    fn first_text_from(&self, header: &Header, seq: u64) -> Result<Option<String>> {
        let mut command = None;
        for stored in self.events(&header.id, At::Seq(seq)).take(LOOKED_AT) {
            let event = stored?.event;
            if !event.class.is_conversation() || event.kind != EventType::USER_MESSAGE {
                continue;
            }
            match typed(&self.message(&event)) {
                Some(Typed::Text(text)) if event.effect.starts_turn => return Ok(Some(text)),
                Some(Typed::Text(_)) => {}
                Some(Typed::Command(text)) => command = command.or(Some(text)),
                None => {}
            }
        }
        Ok(command)
    }
}
