//! The feed of a store: the sessions that were written to after a mark.
//!
//! The feed names sessions, and merges all changes of a session into one. A reader that was away
//! for a long time gets each session once, with its current state. It then reads the ranges of
//! events that it lacks from the sessions' logs.

use std::fmt;
use std::str::FromStr;

use forklore_core::SessionId;
use serde::{Deserialize, Serialize};

/// The position at which a reader of the feed (the sequence of changed sessions) begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Since {
    /// The reader begins before all changes. It first gets one entry for each session that is not
    /// deleted, and then the changes that were committed after this first read.
    Beginning,
    /// The reader begins after all changes that are already committed.
    Now,
    /// The reader begins after the position of this mark. The mark comes from the [`Changes::mark`]
    /// of an earlier page.
    Mark(Mark),
}

/// A position in the feed (the sequence of changed sessions) of one store, as a string without
/// spaces. A reader may store a mark and later pass it to any handle of the same store, in any
/// process. The content of a mark is opaque to readers.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Mark(String);

impl Mark {
    /// Creates a mark from its string, without checking the string.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the mark as a string.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Mark {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(Self::new(text))
    }
}

/// A page of the feed, which is the sequence of changed sessions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changes {
    /// The sessions that were written to after the reader's position. Each session occurs once.
    /// After the initial list of all sessions, the order is that of the sessions' last commits.
    pub sessions: Vec<SessionChange>,
    /// The position after this page, from which to read the next page. It can advance even if the
    /// page is empty.
    pub mark: Mark,
    /// Whether there are more committed changes than those on this page.
    pub more: bool,
}

/// The changes to one session since the reader's mark (its last position). The flags may repeat a
/// change from before the mark, but never omit a change after it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionChange {
    /// The id of the session.
    pub session: SessionId,
    /// The seq of the session's last event; -1 if its log is empty.
    pub head_seq: i64,
    /// Whether the session was created, or came back from the trash, after the reader's last
    /// position. If so, all its events up to `head_seq` are new for the reader.
    pub created: bool,
    /// Whether events were appended to the session after the reader's last position. The last of
    /// them has the seq `head_seq`.
    pub appended: bool,
    /// Whether the session's header changed after the reader's last position. A new label, title or
    /// lease is such a change, for example, and so is a detach. New counts alone are not.
    pub changed: bool,
    /// Whether the session was deleted: it is in the trash, or it was erased. Its header can still
    /// be read.
    pub removed: bool,
}
