//! Chooses the short names of sessions that users see: a label, or the beginning of an id.

use forklore_core::{SessionId, ShortIds};
use forklore_engine::Scope;

use super::Chat;

/// A word of a message that is longer than this number of bytes may be a session id. If it is one,
/// a short name replaces it.
const LONG: usize = 32;

impl Chat<'_> {
    /// Returns the label of a session in the current session's family (all sessions with one root).
    /// Returns the short id of any other session.
    pub(crate) fn label_of(&self, id: &SessionId) -> String {
        let family = self.header().ok().map(|header| header.root_id);
        match self.engine().show(id) {
            Ok(header) if Some(&header.root_id) == family.as_ref() => header.label.to_string(),
            _ => self.short_id(id),
        }
    }

    /// Returns the short form of an id, or the whole id if the short form names another session
    /// too.
    pub(crate) fn short_id(&self, id: &SessionId) -> String {
        let ids = ShortIds::of([id]);
        let found = self.engine().resolve(ids.get(id), &Scope::default());
        let is_unique = found.is_ok_and(|header| header.id == *id);
        if is_unique { ids.get(id).to_owned() } else { id.to_string() }
    }

    /// Replaces each session id of more than [`LONG`] bytes in a message by the session's
    /// label or short id.
    pub(crate) fn with_names(&self, message: &str) -> String {
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-';
        let mut out = String::new();
        let mut rest = message;
        while let Some(begin) = rest.find(is_part) {
            let (before, word) = rest.split_at(begin);
            let (word, after) = word.split_at(word.find(|c| !is_part(c)).unwrap_or(word.len()));
            out.push_str(before);
            match word.parse::<SessionId>() {
                Ok(id) if word.len() > LONG => out.push_str(&self.label_of(&id)),
                _ => out.push_str(word),
            }
            rest = after;
        }
        out + rest
    }
}
