//! What a session is about where it has no title: what the person said first.

use forklore_core::{Header, Role};
use forklore_store::port::At;

use crate::{Engine, Result};

/// Who has said nothing in so many events is not looked at further.
const LOOKED_AT: usize = 200;

impl Engine {
    /// What the person said first in a session itself; where that is nothing yet, in the history
    /// that it inherited.
    ///
    /// # Errors
    /// `corrupt`, `missing_ancestor`.
    pub fn first_words(&self, header: &Header) -> Result<Option<String>> {
        let own = header.seq_of_own(u64::from(header.parent_id.is_some()));
        match self.first_text_from(header, own)? {
            None if header.inherited.inheritable > 0 => self.first_text_from(header, 0),
            said => Ok(said),
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
