//! Chooses the short names of sessions that users see: a label, or the end of an id.

use forklore_core::SessionId;
use forklore_engine::Scope;

use super::Chat;

/// The minimum length of a short id, in bytes. Eight hex digits stay unique in a store of a hundred
/// thousand sessions.
const SHORTEST: usize = 8;
/// The maximum length, in bytes, of an id that is shown in full because a user chose it. A longer
/// id is shortened.
const SHOWN_WHOLE: usize = 32;

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

    /// Returns the shortest suffix of the id that identifies only this session. The suffix has at
    /// least [`SHORTEST`] bytes. An id that a user chose is returned in full if it has at most
    /// [`SHOWN_WHOLE`] bytes.
    pub(crate) fn short_id(&self, id: &SessionId) -> String {
        let (text, engine) = (id.as_str(), self.engine());
        let is_generated = text.bytes().rev().take(SHORTEST).all(|byte| byte.is_ascii_hexdigit());
        if !is_generated && text.len() <= SHOWN_WHOLE {
            return text.to_owned();
        }
        let ends = (SHORTEST..text.len()).filter_map(|len| text.get(text.len() - len..));
        let names = |end: &&str| {
            engine.resolve(end, &Scope::default()).is_ok_and(|header| header.id == *id)
        };
        ends.into_iter().find(names).unwrap_or(text).to_owned()
    }

    /// Replaces each session id of more than [`SHOWN_WHOLE`] bytes in a message by the session's
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
                Ok(id) if word.len() > SHOWN_WHOLE => out.push_str(&self.label_of(&id)),
                _ => out.push_str(word),
            }
            rest = after;
        }
        out + rest
    }
}
