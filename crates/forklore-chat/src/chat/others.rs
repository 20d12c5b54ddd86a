//! Announces messages that other programs wrote into a session of the conversation.

use std::collections::HashMap;

use forklore_core::{Header, SessionId};
use forklore_engine::lease_owner;
use forklore_host::NumberedMessage;

use super::Chat;
use crate::Error;
use crate::count::count;
use crate::screen::Tone;

/// The maximum number of other programs' messages whose beginnings are shown.
const SHOWN: usize = 4;

/// What the conversation knows about the sessions that it was in.
#[derive(Default)]
pub(super) struct Seen {
    /// How many messages of each session the user knows of.
    messages: HashMap<SessionId, u64>,
    /// The program that had leased a session when the conversation could not run a turn in it.
    holders: HashMap<SessionId, String>,
}

impl Chat<'_> {
    /// Records that the user knows of all messages of the session with this header.
    pub(super) fn know(&mut self, header: &Header) {
        self.seen.messages.insert(header.id.clone(), header.counts.index);
    }

    /// Records which messages of the current session the user knows of, if nothing is recorded
    /// about that session yet. Of the messages that a fork inherits, the user knows those that the
    /// user knows of the parent.
    pub(super) fn know_first(&mut self) {
        let Ok(header) = self.header() else { return };
        let parent = header.parent_id.as_ref().and_then(|id| self.seen.messages.get(id)).copied();
        let parent = parent.filter(|seen| *seen < header.inherited.index);
        self.seen.messages.entry(header.id).or_insert(parent.unwrap_or(header.counts.index));
    }

    /// Records that the user knows of all messages of the current session, because a turn of this
    /// conversation has ended.
    pub(super) fn know_all(&mut self) {
        if let Ok(header) = self.header() {
            self.know(&header);
        }
    }

    /// Records which program has leased the session, if that is what the error says.
    pub(super) fn note_holder(&mut self, error: &Error) {
        if let Error::Host(forklore_host::Error::Agent(forklore_agent::Error::Leased {
            session,
            source,
            ..
        })) = error
            && let Some(holder) = source.holder()
        {
            self.seen.holders.insert(session.clone(), holder.to_owned());
        }
    }

    /// Shows which messages other programs have written into the current session, before the model
    /// receives them. `is_own` gets the new messages, and returns how many of the last ones this
    /// conversation wrote itself.
    pub(super) fn announce_others(&mut self, is_own: impl Fn(&[NumberedMessage]) -> usize) {
        let Ok(header) = self.header() else { return };
        let Some(seen) = self.seen.messages.get(&header.id).copied() else { return };
        if header.counts.index <= seen {
            return;
        }
        let new = self.foreground.block_on(self.conversation.messages_from(seen));
        let Ok(mut new) = new else { return };
        let own = is_own(&new);
        new.truncate(new.len().saturating_sub(own));
        self.know(&header);
        if new.is_empty() {
            return;
        }
        let lease = self.engine().lease_of(&header).map(|lease| lease.owner.clone());
        let holder = self.seen.holders.remove(&header.id).or(lease);
        let who = holder.map(|holder| lease_owner::readable(&holder).to_owned());
        let who = who.unwrap_or_else(|| "another program".to_owned());
        let many = count(new.len() as u64, "message");
        self.screen.words(&[
            (Tone::Warn, &format!("{who} wrote {many} here meanwhile")),
            (Tone::Dim, "; the model reads them, /replay shows them"),
        ]);
        let width = self.screen.width().saturating_sub(20).max(20);
        for NumberedMessage { message, role, text, .. } in new.iter().take(SHOWN) {
            let text = forklore_sanitize::terminal::cell(text, width).into_owned();
            self.screen.words(&[
                (Tone::Dim, &format!("  {message:>5}  ")),
                (Tone::Dim, &format!("{:<10} ", role.as_str())),
                (Tone::Plain, &text),
            ]);
        }
    }
}
