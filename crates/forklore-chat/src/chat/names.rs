//! The short names of sessions that users see: a label, or the end of an id.

use forklore_core::SessionId;
use forklore_engine::Scope;

use super::Chat;

/// Eight hex digits stay unique in a store of a hundred thousand sessions.
const SHORTEST: usize = 8;
/// An id that is not generated was chosen by a user, so it is shown in full up to this length.
const SHOWN_WHOLE: usize = 32;

impl Chat<'_> {
    /// Returns the label of a session of this family, or the short id of any other session.
    pub(crate) fn label_of(&self, id: &SessionId) -> String {
        let family = self.header().ok().map(|header| header.root_id);
        match self.engine().show(id) {
            Ok(header) if Some(&header.root_id) == family.as_ref() => header.label.to_string(),
            _ => self.short_id(id),
        }
    }

    /// Returns the shortest suffix of the id, of at least [`SHORTEST`] bytes, that names only this
    /// session. An id of at most [`SHOWN_WHOLE`] bytes that was not generated is returned in full.
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

    /// Replaces the long session ids in a message by labels or short ids.
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
