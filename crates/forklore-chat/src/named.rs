//! How sessions are named to people: by their label, else by as much of an id as tells it apart.

use forklore_core::SessionId;
use forklore_engine::Scope;

use crate::chat::Chat;

/// Eight hex digits stay unique in stores of a hundred thousand sessions.
const SHORTEST: usize = 8;
/// An id that was given by hand says something and is shown whole up to this length.
const WHOLE: usize = 32;

impl Chat<'_> {
    /// A session of this family by its label, another one by a short id.
    pub(crate) fn label_of(&self, id: &SessionId) -> String {
        let family = self.header().ok().map(|header| header.root_id);
        match self.engine().show(id) {
            Ok(header) if Some(&header.root_id) == family.as_ref() => header.label.to_string(),
            _ => self.short(id),
        }
    }

    /// The shortest end of an id that names this session alone, as a command line takes it.
    pub(crate) fn short(&self, id: &SessionId) -> String {
        let (text, engine) = (id.as_str(), self.engine());
        let is_generated = text.bytes().rev().take(SHORTEST).all(|byte| byte.is_ascii_hexdigit());
        if !is_generated && text.len() <= WHOLE {
            return text.to_owned();
        }
        let ends = (SHORTEST..text.len()).filter_map(|len| text.get(text.len() - len..));
        let names = |end: &&str| {
            engine.resolve(end, &Scope::default()).is_ok_and(|header| header.id == *id)
        };
        ends.into_iter().find(names).unwrap_or(text).to_owned()
    }

    /// A message in which long ids of sessions are such names.
    pub(crate) fn with_names(&self, message: &str) -> String {
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-';
        let mut out = String::new();
        let mut rest = message;
        while let Some(begin) = rest.find(is_part) {
            let (before, word) = rest.split_at(begin);
            let (word, behind) = word.split_at(word.find(|c| !is_part(c)).unwrap_or(word.len()));
            out.push_str(before);
            match word.parse::<SessionId>() {
                Ok(id) if word.len() > WHOLE => out.push_str(&self.label_of(&id)),
                _ => out.push_str(word),
            }
            rest = behind;
        }
        out + rest
    }
}
