//! Collects the names that completion offers at the prompt.

use forklore_engine::{Engine, ListRequest};

use super::Chat;
use crate::command::COMMANDS;
use crate::command::definition::Command;
use crate::input::Offers;

/// The maximum number of completions of each kind: labels, session ids, cuts at turns and cuts at
/// messages.
const MOST: usize = 100;

impl Chat<'_> {
    pub(super) fn offers(&self) -> Offers {
        let mut offers = Offers {
            commands: COMMANDS.iter().map(Command::offer).collect(),
            models: self.foreground.host().configured().config.models.keys().cloned().collect(),
            formats: self.views.formats(),
            ..Offers::default()
        };
        let here = self.header().ok();
        let request = ListRequest {
            workspace: Some(self.conversation.workspace().clone()),
            limit: MOST,
            ..ListRequest::default()
        };
        if let Some(here) = &here {
            let turns = (1..=here.counts.turns).rev().take(MOST);
            offers.cuts.extend(turns.map(|turn| format!("turn:{turn}")));
            let messages = (0..here.counts.index).rev().take(MOST);
            offers.cuts.extend(messages.map(|message| format!("message:{message}")));
            offers.cuts.extend(["start".to_owned(), "end".to_owned()]);
        }
        let read = move |engine: &Engine| {
            let mut sessions = Vec::new();
            if let Some(here) = here
                && let Ok(family) = engine.branches(&here.id)
            {
                let labels = family.branches.iter().take(MOST);
                sessions.extend(labels.map(|branch| format!("@{}", branch.label)));
            }
            if let Ok(listing) = engine.list(&request) {
                sessions.extend(listing.sessions.iter().map(|header| header.id.to_string()));
            }
            Ok(sessions)
        };
        let read = self.foreground.host().run(read);
        // If the store cannot be read, completion offers no sessions.
        offers.sessions = self.foreground.block_on(read).unwrap_or_default();
        offers
    }
}
