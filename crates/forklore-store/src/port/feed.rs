//! The feed: which sessions were written to since a mark.
//!
//! The feed names sessions and merges their changes. A reader that was away for long gets each
//! session once, with its current state, and reads the ranges that it lacks.

use std::fmt;
use std::str::FromStr;

use forklore_core::SessionId;
use serde::{Deserialize, Serialize};

/// The position at which a reader of the feed begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Since {
    /// Before everything: each living session comes once, then what is committed meanwhile.
    Beginning,
    /// After everything that is committed now.
    Now,
    /// After the position of a [`Changes::mark`].
    Mark(Mark),
}

/// A position in the feed of one store: text without spaces. A reader may store it, and pass it to
/// any handle of that store, in any process, at any later time. Its content is opaque to readers.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Mark(String);

impl Mark {
    /// Creates the mark with this text.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the text.
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

/// A page of the feed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changes {
    /// The sessions that were written to, each once, in the order of their last commits.
    pub sessions: Vec<SessionChange>,
    /// The position after this page. It can advance even if the page is empty.
    pub mark: Mark,
    /// Whether more is already committed after the page.
    pub more: bool,
}

/// The changes to a session. All flags are relative to a mark at or before the reader's: they may
/// repeat a change that the reader has seen, and never omit one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SessionChange {
    /// The session.
    pub session: SessionId,
    /// The seq of its last event, -1 if it has none.
    pub head_seq: i64,
    /// The session was created, with the events up to `head_seq`.
    pub created: bool,
    /// Events were appended, up to `head_seq`.
    pub appended: bool,
    /// Something in its header changed other than counts: label, title, lease, strategy.
    pub changed: bool,
    /// It was deleted; only its tombstone can be read.
    pub removed: bool,
}
