//! Finds the first user message of a session. It describes a session that has no title.

use forklore_core::{Header, Role};
use forklore_store::port::At;

use crate::{Engine, Result};

/// Maximum number of events that one search for a session's first user message reads.
const LOOKED_AT: usize = 200;

impl Engine {
    /// Returns the text of the first user message that the session wrote itself. If there is none,
    /// returns the text of the first user message in the inherited history. Each of the two
    /// searches reads at most 200 events.
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
        for stored in self.events(&header.id, At::Seq(seq)).take(LOOKED_AT) {
            let event = stored?.event;
            if !event.class.is_conversation() {
                continue;
            }
            let message = self.message(&event);
            let text = message.plain_text();
            if message.role == Role::User && !text.trim().is_empty() {
                return Ok(Some(text));
            }
        }
        Ok(None)
    }
}
