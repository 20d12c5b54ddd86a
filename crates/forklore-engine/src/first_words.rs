//! Finds what a person typed first in a session. These words describe a session that has no title.

use forklore_api::{Session, TreeNode, Trees};
use forklore_core::typed::{Typed, typed};
use forklore_core::{EventType, Header};
use forklore_store::port::At;

use crate::brought_marks::first_own;
use crate::{Engine, Events, Result};

/// Maximum number of events that one search for the first words of a session reads.
const LOOKED_AT: usize = 200;
/// Maximum number of sessions of a tree for which first words are searched.
const NODES: usize = 500;
/// Maximum length, in characters, of the first words that describe a session in a list.
const CHARS: usize = 200;

impl Engine {
    /// Returns what a person typed first in the part of the log that the session wrote itself. If
    /// there is nothing, returns what a person typed first in the inherited history. Leaves out
    /// text that an agent added to what was typed. Also leaves out messages that begin no turn,
    /// except commands. A command for the agent (`/clear`) is returned only if nothing else was
    /// typed. Each of the two searches reads at most 200 events. The session may be in the trash.
    ///
    /// # Errors
    /// `corrupt` if stored data is damaged, `missing_ancestor` if inherited events are missing.
    pub fn first_words(&self, header: &Header) -> Result<Option<String>> {
        let own = header.seq_of_own(u64::from(header.parent_id.is_some()));
        match first_text(self, self.events_of(header, own))? {
            None if header.inherited.inheritable > 0 => first_text(self, self.events_of(header, 0)),
            text => Ok(text),
        }
    }

    /// Returns the public form of a header. If the session has no title, adds the beginning of its
    /// first words. A session whose log cannot be read gets none: the verbs that read the log
    /// report the error.
    #[must_use]
    pub fn described(&self, header: &Header) -> Session {
        let mut session = Session::of(header, self.is_leased(header));
        if header.title.is_none() {
            session.first_words = self.first_words(header).ok().flatten().map(|text| line(&text));
        }
        session
    }

    /// Adds first words to each session of the trees that has no title: the beginning of what a
    /// person typed first in this session. Words that a session inherits describe its parent and
    /// are not added. Looks at no more than 500 sessions.
    pub fn add_first_words(&self, trees: &mut Trees) {
        let untitled = trees.nodes.iter_mut().filter(|node| is_untitled(node));
        for node in untitled.take(NODES) {
            let own = first_own(node);
            let Some(header) = &mut node.header else { continue };
            let events = self.events(&node.session_id, At::Seq(own));
            let words = first_text(self, events).ok().flatten();
            header.first_words = words.map(|text| line(&text));
        }
    }

    fn events_of(&self, header: &Header, seq: u64) -> Events {
        if header.is_in_trash() {
            self.events_in_trash(&header.id, At::Seq(seq))
        } else {
            self.events(&header.id, At::Seq(seq))
        }
    }
}

fn first_text(engine: &Engine, events: Events) -> Result<Option<String>> {
    let mut command = None;
    for stored in events.take(LOOKED_AT) {
        let event = stored?.event;
        if !event.class.is_conversation() || event.kind != EventType::USER_MESSAGE {
            continue;
        }
        match typed(&engine.message(&event)) {
            Some(Typed::Text(text)) if event.effect.starts_turn => return Ok(Some(text)),
            Some(Typed::Text(_)) => {}
            Some(Typed::Command(text)) => command = command.or(Some(text)),
            None => {}
        }
    }
    Ok(command)
}

fn is_untitled(node: &TreeNode) -> bool {
    !node.deleted && node.header.as_ref().is_some_and(|header| header.title.is_none())
}

/// Returns the beginning of a text as one line.
fn line(text: &str) -> String {
    let words = text.split_whitespace().flat_map(|word| [" ", word]).skip(1);
    words.flat_map(str::chars).take(CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_the_beginning_of_a_text_without_its_breaks() {
        assert_eq!(line("  one\n\ttwo  three\n"), "one two three");
        assert_eq!(line(&"é ".repeat(1_000)).chars().count(), CHARS);
        assert_eq!(line(" "), "");
    }
}
