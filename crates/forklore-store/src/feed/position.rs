//! Positions in the feed of a store, and their encoding as marks.

use crate::error::{Error, Result};
use crate::port::Mark;

/// The version of the format of marks, and the first field of a mark. A mark is a reader's position
/// in a feed, encoded as a string.
const FORM: &str = "f1";

/// A position in the feed of one store. The feed is the sequence of changed sessions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// The identity of the store's feed, in hexadecimal digits.
    pub store: String,
    /// The generation of the commit numbers in the fields `base` and `at`. When a store begins to
    /// number its commits anew, a new generation begins.
    pub generation: u64,
    /// The number of the commit after which changes count as new for the reader. The flags of a
    /// reported session, such as `created`, cover all commits after this number.
    pub base: u64,
    /// How far the reader has read: in the initial list of sessions, or in the commits after it.
    pub at: At,
}

/// How far a reader of the feed has read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum At {
    /// The reader is still in the initial list of all sessions, which is ordered by a key. It has
    /// read up to and including the session with this key.
    Listed(String),
    /// The reader has read the initial list of all sessions, and some commits after it. The first
    /// number is that of the last commit from which the reader has read a session. The second is
    /// the number of the last session that the reader has read from this commit, or `u64::MAX` if
    /// it has read all sessions of the commit.
    Commit(u64, u64),
}

impl Position {
    /// Returns the position after the commit `number` and all commits before it.
    #[must_use]
    pub fn behind(store: &str, generation: u64, number: u64) -> Self {
        let at = At::Commit(number, u64::MAX);
        Self { store: store.to_owned(), generation, base: number, at }
    }

    /// Encodes the position as a mark, a string that a reader can store.
    #[must_use]
    pub fn mark(&self) -> Mark {
        let Self { store, generation, base, at } = self;
        let at = match at {
            At::Listed(session) => format!("l{session}"),
            At::Commit(number, u64::MAX) => format!("c{number}"),
            At::Commit(number, session) => format!("c{number}.{session}"),
        };
        Mark::new(format!("{FORM}:{store}:{generation}:{base}:{at}"))
    }

    /// Decodes a mark (an encoded position) of the feed whose identity is `store`.
    ///
    /// # Errors
    /// `ForeignMark` if the mark belongs to another feed or is not a valid mark.
    pub fn of(mark: &Mark, store: &str) -> Result<Self> {
        let position = Self::parse(mark.as_str()).filter(|position| position.store == store);
        position.ok_or_else(|| Error::ForeignMark(mark.clone()))
    }

    fn parse(text: &str) -> Option<Self> {
        let mut fields = text.splitn(5, ':');
        let mut next = || fields.next();
        let (form, store) = (next()?, next()?);
        let (generation, base) = (next()?.parse().ok()?, next()?.parse().ok()?);
        let at = next()?;
        let at = if let Some(session) = at.strip_prefix('l') {
            At::Listed(session.to_owned())
        } else {
            let at = at.strip_prefix('c')?;
            let (number, session) = at.split_once('.').unwrap_or((at, ""));
            let session = if session.is_empty() { u64::MAX } else { session.parse().ok()? };
            At::Commit(number.parse().ok()?, session)
        };
        (form == FORM).then(|| Self { store: store.to_owned(), generation, base, at })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_stands_for_its_position_and_for_no_other_feed() {
        for at in [At::Listed("a:b".into()), At::Commit(7, u64::MAX), At::Commit(7, 3)] {
            let position = Position { store: "ab12".into(), generation: 2, base: 5, at };
            assert_eq!(Position::of(&position.mark(), "ab12").unwrap(), position);
            let foreign = Position::of(&position.mark(), "ab13").unwrap_err();
            assert!(matches!(foreign, Error::ForeignMark(_)), "{foreign}");
        }
        for text in ["", "f1", "f1:ab12:0:0:x", "f2:ab12:0:0:c1", "f1:ab12:0:0:c1.x"] {
            assert!(Position::of(&Mark::new(text), "ab12").is_err(), "{text}");
        }
    }
}
