//! The feed: which sessions were written to behind a mark.
//!
//! The feed names sessions and coalesces their changes. A reader that was away for long gets each
//! session once, with its state of now, and reads the ranges that it lacks.

use std::fmt;
use std::str::FromStr;

use forklore_core::SessionId;
use serde::{Deserialize, Serialize};

/// Where a reader of the feed begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Since {
    /// Before everything: each living session comes once, then what is committed meanwhile.
    Beginning,
    /// Behind everything that is committed now.
    Now,
    /// Behind what [`Changes::mark`] stands for.
    Mark(Mark),
}

/// A position in the feed of one store: text without spaces that a reader may store, and hand to
/// any handle of that store, in any process, at any later time. What it holds is the store's.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Mark(String);

impl Mark {
    /// The mark of this text.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Its text.
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
    /// The sessions that were written to, each once, in the order of their last commit.
    pub sessions: Vec<SessionChange>,
    /// The position behind this page; it moves on where the page is empty, too.
    pub mark: Mark,
    /// Whether more is committed already behind the page.
    pub more: bool,
}

/// What happened to a session. All flags are relative to a mark at or before the reader's: they may
/// report something again that the reader has seen, and never leave anything out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SessionChange {
    /// The session.
    pub session: SessionId,
    /// The seq of its last event; -1 without one.
    pub head_seq: i64,
    /// It was made, with the events up to `head_seq`.
    pub created: bool,
    /// Events were appended, up to `head_seq`.
    pub appended: bool,
    /// Something in its header changed that is no count: label, title, lease, strategy.
    pub changed: bool,
    /// It was deleted; nothing of it can be read but its tombstone.
    pub removed: bool,
}
